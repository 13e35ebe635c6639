// ScaleBar: what the colours of a picture mean, as a strip with numbers at its ends.
import './scale_bar.css';

import { colourAt, type Lut } from './colours';
import { h, replace } from './dom';

const STOPS = 12;

export class ScaleBar {
  private readonly low = h('span');
  private readonly high = h('span');
  readonly element: HTMLElement;

  constructor(lut: Lut) {
    const strip = h('span', { class: 'scale-strip', 'aria-hidden': 'true' });
    const stops = Array.from({ length: STOPS + 1 }, (_, i) => colourAt(lut, i / STOPS));
    strip.style.backgroundImage = `linear-gradient(to right, ${stops.join(', ')})`;
    this.element = h('span', { class: 'scale-bar' }, this.low, strip, this.high);
  }

  /** What stands left of the strip, at the colour of 0, and right of it, at that of 1. */
  show(low: string, high: string): void {
    replace(this.low, low);
    replace(this.high, high);
  }
}
