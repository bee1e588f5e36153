export type BusAddress =
  | { readonly is: 'address'; readonly address: string }
  /** Applies when something exists at `path`. */
  | {
      readonly is: 'if-exists';
      readonly path: string;
      readonly address: string;
    }
  | { readonly is: 'none'; readonly why: string };

/**
 * Finds the session bus: DBUS_SESSION_BUS_ADDRESS, else `$XDG_RUNTIME_DIR/bus`. Nothing else is tried, because other rules (an
 * X11 property, starting a bus) would find or create a bus that no desktop listens to.
 */
export function findBusAddress(env: Readonly<Record<string, string | undefined>>): BusAddress {
  const address = env.DBUS_SESSION_BUS_ADDRESS;
  if (address !== undefined && address !== '') return { is: 'address', address: address };
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime?.startsWith('/')) {
    const path = `${runtime.replace(/\/+$/, '')}/bus`;
    return { is: 'if-exists', path, address: `unix:path=${path}` };
  }
  return {
    is: 'none',
    why: 'neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set',
  };
}
