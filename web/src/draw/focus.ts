// Keeps the focus where it was when a part of the page is drawn again.

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** The same element by its id, else the one at the same place among those that take the focus. */
export function keepingFocus(part: HTMLElement, drawAnew: () => void): void {
  const active = document.activeElement;
  const place = active instanceof HTMLElement && part.contains(active) ? [...part.querySelectorAll<HTMLElement>(FOCUSABLE)].indexOf(active) : -1;
  const id = place >= 0 ? (active as HTMLElement).id : '';
  drawAnew();
  if (place < 0) return;
  const same = id === '' ? null : part.querySelector<HTMLElement>(`[id="${CSS.escape(id)}"]`);
  (same ?? part.querySelectorAll<HTMLElement>(FOCUSABLE)[place])?.focus({ preventScroll: true });
}
