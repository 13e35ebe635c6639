// Film: what a view shows, step after step, as a GIF. The view itself is led over the steps and drawn as its PNG is.
import { GifWriter } from '../draw/gif';
import { count } from '../draw/numbers';
import { fileName } from '../draw/files';
import { type Theme, themeOf } from '../draw/theme';
import type { Snapshot, View } from '../views/view';

export const MOST_FRAMES = 120;
const MOST_WIDTH = 960;
const MOST_HEIGHT = 1400;
const CAPTION_PX = 28;
const PROGRESS_PX = 4;
const STEP_WAIT_MS = 20_000;
const LAST_FRAME_TIMES = 4; // the end stays for longer, so that it is seen where the film begins anew

/** Those from the first to the last that are asked for; of too many each n-th, and always the last. */
export function filmSteps(steps: readonly number[], from: number, to: number, most = MOST_FRAMES): number[] {
  const within = steps.filter((step) => step >= from && step <= to);
  const stride = Math.max(1, Math.ceil(within.length / most));
  return within.filter((_, i) => (within.length - 1 - i) % stride === 0);
}

export interface Filmed {
  view: View;
  /** The view's own, which notes the step that it shows. */
  element: HTMLElement;
  run: string;
  seek(step: number | null): void;
}

export class Film {
  private writer: GifWriter | null = null;
  private canvas = document.createElement('canvas');

  constructor(private readonly filmed: Filmed, private readonly frameMs: number) {}

  /** Goes over the steps; `made` is called after each. Ends with the signal's reason when it is aborted. */
  async make(steps: readonly number[], made: (frames: number) => void, signal: AbortSignal): Promise<Snapshot> {
    for (const [i, step] of steps.entries()) {
      signal.throwIfAborted();
      this.filmed.seek(step);
      await shows(this.filmed.element, step, signal);
      await this.filmed.view.settled?.();
      await this.add(step, (i + 1) / steps.length, i === steps.length - 1 ? LAST_FRAME_TIMES : 1);
      made(i + 1);
    }
    if (!this.writer) throw new Error('There is no step to film.');
    const view = this.filmed.element.dataset['view'] ?? 'view';
    const name = fileName(this.filmed.run, view, `steps${steps[0]}_to_${steps.at(-1)}`);
    return { fileName: `${name}.gif`, data: this.writer.finish() };
  }

  private async add(step: number, done: number, times: number): Promise<void> {
    const snapshot = await this.filmed.view.snapshot('png');
    if (!snapshot) throw new Error('This view has no picture to film.');
    const picture = await createImageBitmap(snapshot.data);
    this.writer ??= this.begin(picture.width, picture.height);
    const context = this.canvas.getContext('2d', { willReadFrequently: true });
    if (!context) throw new Error('this browser cannot draw on a canvas');
    this.paint(context, picture, `${this.filmed.run}, step ${count(step)}`, done);
    picture.close();
    this.writer.add(context.getImageData(0, 0, this.canvas.width, this.canvas.height).data, times * this.frameMs);
  }

  /** The first picture says how large all are. */
  private begin(width: number, height: number): GifWriter {
    const scale = Math.min(1, MOST_WIDTH / width, MOST_HEIGHT / height);
    this.canvas.width = Math.max(1, Math.round(width * scale));
    this.canvas.height = Math.round(height * scale) + CAPTION_PX + PROGRESS_PX;
    return new GifWriter(this.canvas.width, this.canvas.height);
  }

  private paint(context: CanvasRenderingContext2D, picture: ImageBitmap, caption: string, done: number): void {
    const { width, height } = this.canvas;
    const theme: Theme = themeOf(this.filmed.element);
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, height);
    context.fillStyle = theme.text;
    context.font = '14px system-ui, sans-serif';
    context.fillText(caption, 8, CAPTION_PX - 9);
    const room = height - CAPTION_PX - PROGRESS_PX;
    const scale = Math.min(width / picture.width, room / picture.height); // one that has grown is made smaller
    context.drawImage(picture, 0, CAPTION_PX, picture.width * scale, picture.height * scale);
    context.fillStyle = theme.accent;
    context.fillRect(0, height - PROGRESS_PX, width * done, PROGRESS_PX);
  }
}

/** Until the element says that it shows the step. */
function shows(element: HTMLElement, step: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const end = (act: () => void): void => {
      observer.disconnect();
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      act();
    };
    const look = (): void => {
      if (element.dataset['step'] === String(step)) end(done);
    };
    const abort = (): void => end(() => failed(signal.reason));
    const observer = new MutationObserver(look);
    const late = `Step ${count(step)} did not appear within ${STEP_WAIT_MS / 1000} seconds.`;
    const timer = setTimeout(() => end(() => failed(new Error(late))), STEP_WAIT_MS);
    observer.observe(element, { attributes: true, attributeFilter: ['data-step', 'data-drawn'] });
    signal.addEventListener('abort', abort);
    look();
  });
}
