// The text view as a drawing: words in lines, each with a mark as strong as its weight.
import { SvgWriter } from '../../draw/svg';

const LINE = 24;
const CHARACTER = 7.3; // of the monospaced face, 12 px
const WIDTH = 820;

export interface MarkedWord {
  text: string;
  /** Between 0 and 1; below 0: the weight is smaller than where it is compared with. */
  mark: number;
  /** A change, not a weight. */
  isChange: boolean;
  /** Continues the word before it. */
  joined: boolean;
  chosen: boolean;
}

export function textSvg(words: readonly MarkedWord[], description: string): SvgWriter {
  const places: { x: number; y: number; width: number }[] = [];
  let [x, y] = [8, 2 * LINE];
  for (const word of words) {
    const width = [...word.text].length * CHARACTER + 2;
    if (!word.joined && x > 8) x += CHARACTER;
    if (x + width > WIDTH) [x, y] = [8, y + LINE];
    places.push({ x, y, width });
    x += width;
  }
  const svg = new SvgWriter(WIDTH + 8, y + LINE, description);
  svg.add('rect', { width: '100%', height: '100%', fill: '#ffffff' });
  svg.text(8, 18, description, { fill: '#566472' });
  svg.group({ 'font-family': 'monospace', fill: '#16202a' }, () => words.forEach((word, i) => {
    const place = places[i]!;
    const box = { x: place.x, y: place.y - 14, width: place.width, height: 19, rx: 2 };
    const fill = word.isChange && word.mark > 0 ? '#b04a00' : '#0b62a4';
    svg.add('rect', { ...box, fill, 'fill-opacity': 0.4 * Math.sqrt(Math.abs(word.mark)) });
    if (word.chosen) svg.add('rect', { ...box, fill: 'none', stroke: '#16202a', 'stroke-width': 2 });
    svg.text(place.x + 1, place.y, word.text);
  }));
  return svg;
}
