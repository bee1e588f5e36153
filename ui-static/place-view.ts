import type { StatusWire } from '../app/status/wire.ts';
import type { Route } from './route.ts';

/** A view that takes the place of the overview. It keeps its element, and so its state, while another view is shown. */
export interface PlaceView {
  /** Called when the address names this view, and again when it names other words to search for. */
  open(route: Route): void;
  /** Called with every new status, and once a second, while it is shown. */
  draw(status: StatusWire, now: number): void;
  /** Called when the person entered a token: what needs one is loaded again. */
  tokenCame(): void;
  close(): void;
}

/** `needToken` asks the person for the token. */
export type StartPlace = (root: HTMLElement, needToken: () => void) => PlaceView;
