import { createHash } from 'node:crypto';
import type { PlacedHandler } from './hook-entries.ts';
import { findCommand } from './recipe.ts';
import { findTomlValue, parseToml } from './toml.ts';

/**
 * Whether a harness runs our hooks, when it runs only those that its user trusted. `modified`: something else stood there when
 * it was trusted. `switched-off`: its user switched it off.
 */
export interface HookTrust {
  readonly is: 'trusted' | 'untrusted' | 'modified' | 'switched-off';
  /** The file in which the harness remembers what is trusted. */
  readonly file: string;
  /** The key of each of our hooks that is not trusted. */
  readonly keys: readonly string[];
}

/** What Codex does with a hook for which the user said nothing: as many seconds as it waits at most. */
const DEFAULT_TIMEOUT_S = 600;
/** Codex drops the matcher of these before it hashes. */
const WITHOUT_MATCHER: ReadonlySet<string> = new Set(['UserPromptSubmit', 'Stop']);

/** Formats an event as Codex names it in keys and hashes: `session_start`. */
function formatEventLabel(event: string): string {
  return event.replace(/(?<!^)[A-Z]/g, (capital) => `_${capital}`).toLowerCase();
}

/**
 * Computes the hash under which Codex remembers a hook: SHA-256 of the JSON, without spaces and with sorted keys, of the event, the
 * matcher and the handler with its defaults filled in. See docs/decisions/0148.
 */
export function computeCodexHookHash(
  os: NodeJS.Platform,
  { event, matcher: given, value }: Pick<PlacedHandler, 'event' | 'matcher' | 'value'>,
): string {
  const { timeout, statusMessage, ...handler } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const seconds = typeof timeout === 'number' ? Math.max(1, timeout) : DEFAULT_TIMEOUT_S;
  const matcher = WITHOUT_MATCHER.has(event) ? undefined : given;
  const identity = {
    event_name: formatEventLabel(event),
    hooks: [
      {
        async: handler.async === true,
        command: findCommand(os, value) ?? '',
        ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
        timeout: seconds,
        type: 'command',
      },
    ],
    ...(matcher === undefined ? {} : { matcher }),
  };
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
}

/**
 * Reads in Codex's `config.toml` whether its user trusted our hooks.
 *
 * @param config null when there is no file
 * @param paths the paths under which Codex may know the settings file: as given, and with links followed
 */
export function findCodexTrust(
  config: { readonly path: string; readonly text: string | null },
  paths: readonly string[],
  handlers: readonly PlacedHandler[],
  os: NodeJS.Platform,
): HookTrust {
  const toml = config.text === null ? null : parseToml(config.text);
  const found = handlers.map((placed) => {
    const { event, group, handler } = placed;
    const keys = paths.map((path) => `${path}:${formatEventLabel(event)}:${group}:${handler}`);
    const states = keys.map((key) => (toml === null ? undefined : findTomlValue(toml, 'hooks', 'state', key)));
    const known = states.find((state) => typeof state === 'object' && state !== null);
    const enabled = known == null ? undefined : findTomlValue(known, 'enabled');
    const hash = known == null ? undefined : findTomlValue(known, 'trusted_hash');
    const is =
      typeof hash !== 'string'
        ? 'untrusted'
        : hash !== computeCodexHookHash(os, placed)
          ? 'modified'
          : enabled === false
            ? 'switched-off'
            : 'trusted';
    return { is, key: keys[0] ?? '' } as const;
  });
  const is = (['untrusted', 'modified', 'switched-off'] as const).find((kind) =>
    found.some((hook) => hook.is === kind),
  );
  const keys = found.filter((hook) => hook.is !== 'trusted').map(({ key }) => key);
  return { is: is ?? 'trusted', file: config.path, keys };
}
