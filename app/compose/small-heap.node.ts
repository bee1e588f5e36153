import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8's space for new objects at its first size. It would double whenever a burst of mail comes, up to 32 MiB, and
 * never be given back: memory that a program which mostly waits has no use for. Before anything is allocated, or it has
 * grown already.
 */
setFlagsFromString('--semi-space-growth-factor=1');
