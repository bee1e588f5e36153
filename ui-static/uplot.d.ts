/** The part of uPlot, the library behind `/assets/uplot.js`, that the chart uses. */
export default class uPlot {
  constructor(options: object, data: readonly (readonly (number | null)[])[], target: HTMLElement);
  static paths: { stepped(options: { align: 1 | -1 }): unknown };
  readonly ctx: CanvasRenderingContext2D;
  readonly bbox: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  valToPos(value: number, scale: string, canvasPixels: boolean): number;
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
}
