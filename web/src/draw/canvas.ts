// Picture: a canvas that fills an element, sharp on every screen, drawn at most once a frame.
import { onThemeChange } from './theme';

export interface Frame {
  context: CanvasRenderingContext2D;
  /** In CSS pixels, as all coordinates are. */
  width: number;
  height: number;
}

export class Picture {
  readonly canvas = document.createElement('canvas');
  private readonly observer: ResizeObserver;
  private readonly forget: () => void;
  private readonly sight: IntersectionObserver | null = null;
  private isSeen = true;
  private waits = false; // to be seen, with something to draw
  private frame = 0;
  private width = 0;
  private height = 0;

  /**
   * `label` says to those who cannot see it what is drawn; keep it up to date with describe(). `whenSeen`: one that is
   * out of view is not drawn before it comes into view or onto paper; for pages of many pictures.
   */
  constructor(
    private readonly parent: HTMLElement,
    label: string,
    private readonly draw: (frame: Frame) => void,
    whenSeen = false,
  ) {
    this.canvas.setAttribute('role', 'img');
    this.canvas.style.display = 'block';
    this.describe(label);
    parent.append(this.canvas);
    this.observer = new ResizeObserver(() => this.schedule());
    this.observer.observe(parent);
    this.forget = onThemeChange(() => this.schedule());
    if (whenSeen && typeof IntersectionObserver !== 'undefined') {
      this.isSeen = false;
      this.sight = new IntersectionObserver((entries) => this.see(entries.at(-1)!.isIntersecting), { rootMargin: '200px' });
      this.sight.observe(parent);
    }
    this.schedule();
  }

  describe(label: string): void {
    this.canvas.setAttribute('aria-label', label);
  }

  /** Draws with the next frame; many calls are one. */
  schedule(): void {
    this.waits = !this.isSeen && !matchMedia('print').matches;
    if (this.waits) return;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  private see(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen && this.waits) this.schedule();
  }

  drawNow(): void {
    const context = this.canvas.getContext('2d');
    if (!context) return; // where there is no canvas (a test's document) nothing is seen
    this.fit();
    const scale = this.canvas.width / Math.max(this.width, 1);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (this.width > 0 && this.height > 0) this.draw({ context, width: this.width, height: this.height });
  }

  /** As a PNG, `scale` times as many pixels as CSS pixels. */
  png(scale = 2): Promise<Blob> {
    return drawnAsPng(this.width, this.height, scale, this.draw);
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.sight?.disconnect();
    this.forget();
    this.canvas.remove();
  }

  private fit(): void {
    this.width = this.parent.clientWidth;
    this.height = this.parent.clientHeight;
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (this.canvas.width === wide && this.canvas.height === high) return;
    this.canvas.width = wide;
    this.canvas.height = high;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
  }
}

export function drawnAsPng(width: number, height: number, scale: number, draw: (frame: Frame) => void): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d');
  if (!context) return Promise.reject(new Error('this browser cannot draw on a canvas'));
  context.scale(scale, scale);
  draw({ context, width, height });
  return pngOf(canvas);
}

export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large for a PNG'))), 'image/png');
  });
}

/** A canvas as a data: address, for a drawing that has it within. */
export async function dataAddressOf(canvas: HTMLCanvasElement): Promise<string> {
  const blob = await pngOf(canvas);
  return new Promise<string>((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(new Error('the picture could not be read back'));
    reader.readAsDataURL(blob);
  });
}
