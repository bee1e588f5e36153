import type { MenuAction, TrayModel } from './model.ts';

/** Shows the tray model. It stores the newest model, and shows it again by itself when its host comes back. */
export interface TrayDriver extends AsyncDisposable {
  show(model: TrayModel): void;
}

export interface TrayEvents {
  /** Called when a person clicked an entry. */
  onAction(action: MenuAction): void;
  /** Called with the state of the tray, in one line, when it changes: `on (...)` or `off (why)`. */
  onState(text: string): void;
}
