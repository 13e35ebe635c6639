// Zooming by hand: the wheel, two fingers, a double click.

export interface Zooming {
  /** At once, and again and again; `factor` below 1 shows less; `at`, from 0 to 1, is the place that stays. */
  by(factor: number, at: number): void;
  /** The hand has rested for a moment. */
  settled(): void;
  reset(): void;
}

const STEP = 1.25;
const SETTLED_MS = 120;

/** Without `plainWheel` the wheel scrolls the page, and zooms only with Ctrl or Cmd, as two fingers on a pad do. */
export function listenToGestures(element: HTMLElement, plainWheel: boolean, zooming: Zooming): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  element.addEventListener('wheel', (event) => {
    if (!plainWheel && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zooming.by(event.deltaY > 0 ? STEP : 1 / STEP, placeIn(element, event.clientX));
    clearTimeout(timer);
    timer = setTimeout(() => zooming.settled(), SETTLED_MS);
  }, { passive: false });
  element.addEventListener('dblclick', () => zooming.reset());
  listenToPinch(element, zooming);
}

function listenToPinch(element: HTMLElement, zooming: Zooming): void {
  let last: { apart: number; at: number } | null = null;
  element.addEventListener('touchstart', (event) => {
    last = event.touches.length === 2 ? { apart: apartOf(event), at: placeIn(element, middleOf(event)) } : null;
  }, { passive: true });
  element.addEventListener('touchmove', (event) => {
    if (!last || event.touches.length !== 2) return;
    event.preventDefault();
    const apart = Math.max(1, apartOf(event));
    zooming.by(last.apart / apart, last.at);
    last.apart = apart;
  }, { passive: false });
  element.addEventListener('touchend', () => {
    if (last) zooming.settled();
    last = null;
  });
}

function placeIn(element: HTMLElement, x: number): number {
  const { left, width } = element.getBoundingClientRect();
  return width > 0 ? Math.min(1, Math.max(0, (x - left) / width)) : 0.5;
}

function apartOf({ touches }: TouchEvent): number {
  return Math.abs(touches[0]!.clientX - touches[1]!.clientX);
}

function middleOf({ touches }: TouchEvent): number {
  return (touches[0]!.clientX + touches[1]!.clientX) / 2;
}
