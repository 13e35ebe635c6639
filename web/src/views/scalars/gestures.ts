// Zooming by hand: the wheel, two fingers, a double click.

export interface Zooming {
  /** `factor` below 1 shows less; `at`, from 0 to 1, is the place that stays. */
  by(factor: number, at: number): void;
  reset(): void;
}

const STEP = 1.25;
const SETTLED_MS = 120;

/** Without `plainWheel` the wheel scrolls the page, and zooms only with Ctrl or Cmd, as two fingers on a pad do. */
export function listenToGestures(element: HTMLElement, plainWheel: boolean, zooming: Zooming): void {
  let factor = 1;
  let timer: ReturnType<typeof setTimeout> | undefined;
  element.addEventListener('wheel', (event) => {
    if (!plainWheel && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    factor *= event.deltaY > 0 ? STEP : 1 / STEP;
    const at = placeIn(element, event.clientX);
    clearTimeout(timer);
    timer = setTimeout(() => {
      zooming.by(factor, at);
      factor = 1;
    }, SETTLED_MS);
  }, { passive: false });
  element.addEventListener('dblclick', () => zooming.reset());
  listenToPinch(element, zooming);
}

function listenToPinch(element: HTMLElement, zooming: Zooming): void {
  let begin: { apart: number; at: number } | null = null;
  let last = 1;
  element.addEventListener('touchstart', (event) => {
    begin = event.touches.length === 2 ? { apart: apartOf(event), at: placeIn(element, middleOf(event)) } : null;
    last = 1;
  }, { passive: true });
  element.addEventListener('touchmove', (event) => {
    if (!begin || event.touches.length !== 2) return;
    event.preventDefault();
    last = begin.apart / Math.max(1, apartOf(event));
  }, { passive: false });
  element.addEventListener('touchend', () => {
    if (begin && Math.abs(last - 1) > 0.05) zooming.by(last, begin.at);
    begin = null;
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
