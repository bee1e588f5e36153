import type { Banner } from './banner.ts';

/** Desktop Notifications 1.2, "Categories". Names of our own begin with `x-`. */
export const CATEGORY: Readonly<Record<Banner['is'], string>> = {
  mail: 'email.arrived',
  outage: 'network.disconnected',
  recovery: 'network.connected',
  decision: 'x-hivebar.decision',
  failed: 'x-hivebar.failed',
  test: 'x-hivebar.test',
};

/** Names of the Sound Naming Specification. */
export const SOUND: Readonly<Record<Banner['is'], string>> = {
  mail: 'message-new-email',
  outage: 'network-connectivity-lost',
  recovery: 'network-connectivity-established',
  decision: 'dialog-question',
  failed: 'dialog-error',
  test: 'message-new-email',
};
