// What a hand does on the map: pointing, a click, a drag over a stretch, wheel, two fingers, a double click.
import { listenToGestures } from '../../draw/gestures';

export interface HandEvents {
  /** The pointer is here, in pixels of the box; null: it has left. */
  point(at: { x: number; y: number } | null): void;
  click(at: { x: number; y: number }): void;
  /** While a stretch is dragged over; null: no longer. */
  drag(between: { from: number; to: number } | null): void;
  select(from: number, to: number): void;
  /** `at` is the pixel that stays. */
  zoom(factor: number, at: number): void;
  rest(): void;
  reset(): void;
  /** Is there something that a double click undoes? Then a click waits for the second one. */
  isZoomed(): boolean;
}

const DRAG_PIXELS = 4; // less is a click
const DOUBLE_MS = 250;

export function listenToHand(box: HTMLElement, events: HandEvents): void {
  const at = (event: MouseEvent) => {
    const { left, top } = box.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  let from: number | null = null;
  let wasDragged = false;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  box.addEventListener('pointerdown', (event) => {
    wasDragged = false;
    from = event.button === 0 && event.pointerType !== 'touch' ? at(event).x : null; // a finger scrolls the page
  });
  box.addEventListener('pointermove', (event) => {
    const { x, y } = at(event);
    if (from !== null && (wasDragged || Math.abs(x - from) >= DRAG_PIXELS)) {
      if (!wasDragged) box.setPointerCapture(event.pointerId);
      wasDragged = true;
      events.drag({ from, to: x });
    } else events.point({ x, y });
  });
  const end = (event: PointerEvent) => {
    if (from !== null && wasDragged) {
      events.drag(null);
      if (event.type === 'pointerup') events.select(Math.min(from, at(event).x), Math.max(from, at(event).x));
    }
    from = null;
  };
  box.addEventListener('pointerup', end);
  box.addEventListener('pointercancel', end);
  box.addEventListener('pointerleave', () => events.point(null));
  box.addEventListener('click', (event) => {
    clearTimeout(waiting);
    if (wasDragged) return;
    const place = at(event);
    if (events.isZoomed()) waiting = setTimeout(() => events.click(place), DOUBLE_MS);
    else events.click(place);
  });
  listenToGestures(box, true, {
    by: (factor, place) => events.zoom(factor, place * box.clientWidth),
    settled: () => events.rest(),
    reset: () => {
      clearTimeout(waiting);
      events.reset();
    },
  });
}
