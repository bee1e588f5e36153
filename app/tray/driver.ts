import type { MenuAction, TrayModel } from './model.ts';

/** What shows the model. It keeps the last one, and shows it by itself when its host comes back. */
export interface TrayDriver extends AsyncDisposable {
  show(model: TrayModel): void;
}

export interface TrayEvents {
  /** A person asked for it. */
  onAction(action: MenuAction): void;
  /** How the tray does, in one line: `on (...)` or `off (why)`. Told when it changes. */
  onState(text: string): void;
}
