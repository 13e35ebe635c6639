// The head view as files: a drawing, a table, an array.
import { csvOf, fileName, npyOf } from '../../draw/files';
import { SvgWriter } from '../../draw/svg';
import type { Snapshot, SnapshotKind } from '../view';

import { pngFrom } from './drawing';
import { channelsOf, lookIn } from './head_colours';
import { type LinkLook, type Links, strokeOf } from './links';
import { Raster } from './raster';
import { forFile } from './numbers';
import { ROW_PX, yOf } from './token_column';
import type { Weights } from './weights';

export interface HeadSheet {
  run: string;
  weights: Weights;
  links: Links;
  look: LinkLook;
  description: string;
  /** In place of two columns. */
  drawing?: SvgWriter;
  /** How many tokens the left column has. */
  queries: number;
}

const WIDTH = 720;
const COLUMN = 150;
/** More marks than that would make a drawing that no program opens gladly: they become pixels. */
const MOST_MARKS = 20_000;

export async function headFile(kind: SnapshotKind, sheet: HeadSheet): Promise<Snapshot | undefined> {
  const { origin, heads } = sheet.weights;
  const name = fileName(sheet.run, 'attention', `layer${origin.layer}`, `heads${heads.join('_')}`, `step${origin.step}`, `item${origin.item}`);
  const data = await dataOf(kind, sheet);
  return data && { fileName: `${name}.${kind}`, data };
}

async function dataOf(kind: SnapshotKind, sheet: HeadSheet): Promise<Blob | undefined> {
  switch (kind) {
    case 'svg': return (sheet.drawing ?? svgOf(sheet)).toBlob();
    case 'csv': return csvOf(rowsOf(sheet));
    case 'npy': return weightsAsNpy(sheet.weights);
    case 'png': return pngFrom(sheet.drawing ?? svgOf(sheet));
  }
}

export function weightsAsNpy(weights: Weights): Blob | undefined {
  const values = new Float32Array(weights.heads.length * weights.queries.length * weights.keyCount);
  let at = 0;
  for (let head = 0; head < weights.heads.length; head++) {
    for (const query of weights.queries) {
      values.set(weights.row(head, query)!, at);
      at += weights.keyCount;
    }
  }
  const shape = [weights.heads.length, weights.queries.length, weights.keyCount];
  return npyOf('F32', shape, new Uint8Array(values.buffer));
}

function rowsOf({ weights, links }: HeadSheet): (string | number)[][] {
  const rows: (string | number)[][] = [['step', 'item', 'layer', 'head', 'query', 'query_token', 'key', 'key_token', weights.comparedWith === null ? 'weight' : 'change']];
  for (let i = 0; i < links.count; i++) {
    const [query, key] = [links.query[i]!, links.key[i]!];
    const sign = weights.comparedWith !== null && links.head[i] === 1 ? -1 : 1;
    rows.push([
      weights.origin.step, weights.origin.item, weights.origin.layer, weights.heads[links.head[i]!]!, query,
      weights.queryLabel(query) ?? '', key, weights.keyLabel(key) ?? '', sign * forFile(links.weight[i]!),
    ]);
  }
  return rows;
}

function svgOf(sheet: HeadSheet): SvgWriter {
  const { weights, links, description, queries } = sheet;
  const height = Math.max(queries, weights.keyCount) * ROW_PX;
  const svg = new SvgWriter(WIDTH, height + 2 * ROW_PX, description);
  svg.add('rect', { width: '100%', height: '100%', fill: '#ffffff' });
  svg.text(8, 16, description.replace(/ Strongest: .*$/, ''), { fill: '#16202a' }); // the title has all of it
  svg.group({ transform: `translate(0 ${ROW_PX})`, fill: '#16202a' }, () => {
    for (let i = 0; i < queries; i++) {
      svg.text(COLUMN - 8, yOf(i) + 4, weights.queryLabel(i) ?? String(i), { 'text-anchor': 'end' });
    }
    for (let i = 0; i < weights.keyCount; i++) svg.text(WIDTH - COLUMN + 8, yOf(i) + 4, weights.keyLabel(i) ?? String(i));
    if (links.count > MOST_MARKS) addPixels(svg, sheet, height);
    else addLines(svg, sheet);
  });
  return svg;
}

function addLines(svg: SvgWriter, { weights, links, look }: HeadSheet): void {
  for (let i = 0; i < links.count; i++) {
    const head = lookIn(weights, links.head[i]!, false);
    const stroke = strokeOf(links.weight[i]!, look);
    svg.add('line', {
      x1: COLUMN, y1: yOf(links.query[i]!), x2: WIDTH - COLUMN, y2: yOf(links.key[i]!), stroke: head.colour,
      'stroke-width': stroke.width, 'stroke-opacity': stroke.opacity,
      'stroke-dasharray': weights.heads.length > 1 && head.dash.length > 0 ? head.dash.join(' ') : undefined,
    });
  }
}

function addPixels(svg: SvgWriter, { weights, links, look }: HeadSheet, height: number): void {
  const width = WIDTH - 2 * COLUMN;
  const raster = new Raster(width, height);
  for (let head = 0, i = 0; head < weights.heads.length; head++) {
    const { colour, dash } = lookIn(weights, head, false);
    for (; i < links.count && links.head[i] === head; i++) {
      const stroke = strokeOf(links.weight[i]!, look);
      raster.add({ from: yOf(links.query[i]!), to: yOf(links.key[i]!), ...stroke }, weights.heads.length > 1 ? dash : []);
    }
    raster.flush(...channelsOf(colour));
  }
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser cannot draw on a canvas');
  context.putImageData(raster.toImage(), 0, 0);
  svg.image(canvas.toDataURL('image/png'), COLUMN, 0, width, height);
}
