/** One line of `busctl monitor --json=short`, as far as it is read here. */
export interface BusMessage {
  readonly type: 'method_call' | 'method_return' | 'signal' | 'error';
  readonly sender?: string;
  readonly destination?: string;
  readonly member?: string;
  readonly cookie?: number;
  readonly reply_cookie?: number;
  readonly payload?: { readonly type: string; readonly data: readonly unknown[] };
}

/** One notification as it was asked for, newest state. */
export interface NotificationRecord {
  readonly id: number;
  readonly app: string;
  /** The id it replaced, 0 for none. */
  readonly replaces: number;
  readonly icon: string;
  readonly summary: string;
  readonly body: string;
  /** Key and label by turns. */
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, unknown>>;
  readonly timeout: number;
  /** 1 expired, 2 dismissed, 3 closed by the program, 4 undefined; null while it is open. */
  readonly closed: number | null;
}

/** Every `Notify` call in order, with the daemon's answer and whether it was closed since. */
export function listShown(messages: readonly BusMessage[]): NotificationRecord[] {
  const ids = new Map<string, number>();
  const closed = new Map<number, number>();
  for (const m of messages) {
    const data = m.payload?.data ?? [];
    if (m.type === 'method_return' && m.payload?.type === 'u') {
      ids.set(`${m.destination}/${m.reply_cookie}`, data[0] as number);
    }
    if (m.type === 'signal' && m.member === 'NotificationClosed') closed.set(data[0] as number, data[1] as number);
  }
  const shown: NotificationRecord[] = [];
  for (const m of messages) {
    const id = ids.get(`${m.sender}/${m.cookie}`);
    if (m.type !== 'method_call' || m.member !== 'Notify' || id === undefined || m.payload === undefined) continue;
    const [app, replaces, icon, summary, body, actions, hints, timeout] = m.payload.data as [
      string,
      number,
      string,
      string,
      string,
      string[],
      Record<string, { data: unknown }>,
      number,
    ];
    const plain = Object.fromEntries(Object.entries(hints).map(([key, { data }]) => [key, data]));
    const closedAs = closed.get(id) ?? null;
    shown.push({ id, app, replaces, icon, summary, body, actions, hints: plain, timeout, closed: closedAs });
  }
  return shown;
}

/** What is on the screen, from the top (oldest) down: the last state of each id that is not closed. */
export function listOpen(shown: readonly NotificationRecord[]): NotificationRecord[] {
  const last = new Map<number, NotificationRecord>();
  for (const s of shown) if (s.closed === null) last.set(s.id, s); // a replaced one keeps its row
  return [...last.values()];
}
