// The map as a file: its cells as pixels, with title, what the colours mean, names and steps as text.
import { dataAddressOf } from '../../draw/canvas';
import { colourAt, nonFinite, viridis } from '../../draw/colours';
import { SvgWriter } from '../../draw/svg';
import { pngOfSvg } from '../../draw/svg_png';

import type { MapLayout } from './map_layout';
import { drawPlot, type MapLook, NAME_GAP, nameMarks, stepMarks, ZERO } from './map_picture';

export interface MapWords {
  title: string;
  /** Of the colours; undefined: there is no finite number. */
  ends: [low: string, high: string] | undefined;
  isLog: boolean;
  zeros: boolean;
}

const HEAD = 60; // above the map
const LEFT = 8;
const STRIP = { wide: 140, high: 12, stops: 28 };
const LETTER = 7; // of the type of 12 pixels, about
const TEXT = '#16202a';
const ANCHORS = { left: 'start', center: 'middle', right: 'end' } as const;

export async function mapSvg(look: MapLook, words: MapWords, width: number): Promise<Blob> {
  const { layout } = look;
  const svg = new SvgWriter(width, layout.height + HEAD, words.title);
  svg.add('rect', { width, height: layout.height + HEAD, fill: '#ffffff' });
  svg.text(LEFT, 20, words.title, { 'font-size': 15, 'font-weight': 600, fill: TEXT });
  addLegend(svg, look, words);
  const high = look.map.layers.length * layout.rowHigh;
  const plot = await dataAddressOf(plotOf(look, layout, high));
  svg.group({ transform: `translate(0 ${HEAD})`, 'font-size': 11, fill: TEXT }, () => {
    svg.image(plot, layout.left, layout.top, layout.plotWidth, high);
    for (const { text, y } of nameMarks(look)) svg.text(layout.left - NAME_GAP, y + 4, text, { 'text-anchor': 'end' });
    for (const { text, align, x } of stepMarks(look)) svg.text(x, layout.top + high + 16, text, { 'text-anchor': ANCHORS[align] });
  });
  return svg.toBlob();
}

export async function mapPng(look: MapLook, words: MapWords, width: number): Promise<Blob> {
  return pngOfSvg(await mapSvg(look, words, width), width, look.layout.height + HEAD);
}

/** Twice as many pixels as it has units. */
function plotOf(look: MapLook, layout: MapLayout, high: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(2 * layout.plotWidth);
  canvas.height = Math.ceil(2 * high);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser cannot draw on a canvas');
  context.scale(2, 2);
  context.translate(-layout.left, -layout.top);
  drawPlot(context, { ...look, dragged: null }, high);
  return canvas;
}

function addLegend(svg: SvgWriter, { map }: MapLook, { ends, isLog, zeros }: MapWords): void {
  let x = LEFT;
  const say = (text: string) => {
    svg.text(x, 46, text, { fill: TEXT });
    x += text.length * LETTER + 8;
  };
  const mark = (colour: string, text: string) => {
    svg.add('rect', { x, y: 36, width: STRIP.high, height: STRIP.high, fill: colour });
    x += STRIP.high + 5;
    say(text);
  };
  if (ends) {
    say(ends[0]);
    for (let i = 0; i < STRIP.stops; ++i) {
      const wide = STRIP.wide / STRIP.stops;
      svg.add('rect', { x: x + i * wide, y: 36, width: wide + 0.5, height: STRIP.high, fill: colourAt(viridis(), i / (STRIP.stops - 1)) });
    }
    x += STRIP.wide + 8;
    say(`${ends[1]}${isLog ? ', logarithmic' : ''}`);
  }
  if (zeros && isLog) mark(ZERO, '0');
  const odd = [...map.odd.values()];
  if (odd.some(({ nan }) => nan > 0)) mark(nonFinite.nan, 'NaN');
  if (odd.some(({ inf }) => inf > 0)) mark(nonFinite.positive, 'Inf');
}
