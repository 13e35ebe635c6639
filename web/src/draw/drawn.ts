// Notes on a view's element which step it shows, once it is drawn on the screen's next frame.

/** To be called when a drawing is finished. `step` is the newest global step in it, null when it has none. */
export function drawn(element: HTMLElement, step: number | null): void {
  element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
  if (step === null) delete element.dataset.step;
  else element.dataset.step = String(step);
}
