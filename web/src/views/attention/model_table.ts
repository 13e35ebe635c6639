// The numbers of all heads: a table to read and to order by, and rows for a file.
import { h } from '../../draw/dom';
import { exact, short } from '../../draw/numbers';

import type { Atlas, LayerInfo } from './api';
import { type Place, metricAt, metricName } from './model_order';
import { forFile } from './numbers';

export interface HeadTable {
  atlas: Atlas;
  layers: readonly LayerInfo[];
  places: readonly Place[];
  sort: string;
  order(sort: string): void;
  open(layer: string, head: string): void;
}

export function headTable(table: HeadTable): HTMLElement {
  const { atlas, places } = table;
  const heads = [orderButton(table, 'layer', 'Layer and head'), ...atlas.metrics.map((metric) => orderButton(table, metric, metricName(metric)))];
  return h('div', { class: 'at-table', tabindex: 0, role: 'region', 'aria-label': 'Numbers of all heads' }, h(
    'table', {}, h('caption', {}, `Step ${atlas.step}, batch item ${atlas.item}`),
    h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...places.map((place) => rowOf(table, place))),
  ));
}

function orderButton({ sort, order }: HeadTable, name: string, text: string): HTMLElement {
  const now = sort === name ? 'descending' : sort === `-${name}` ? 'ascending' : 'none';
  const mark = { descending: ' ▼', ascending: ' ▲', none: '' }[now];
  return h('th', { scope: 'col', 'aria-sort': now }, h('button', { type: 'button', onclick: () => order(sort === name ? `-${name}` : name) }, text, mark));
}

function rowOf({ atlas, layers, open }: HeadTable, place: Place): HTMLElement {
  const layer = String(layers[place.layer]!.layer);
  const button = h('button', { type: 'button', onclick: () => open(layer, String(place.head)) }, `${layer}.${place.head}`);
  return h('tr', {}, h('th', { scope: 'row' }, button), ...atlas.metrics.map((metric) => {
    const value = metricAt(atlas, metric, place);
    return h('td', {}, h('data', { value: exact(value, 'F32'), 'data-metric': metric, 'data-layer': layer, 'data-head': place.head }, short(value)));
  }));
}

export function rowsForFile({ atlas, layers, places }: Pick<HeadTable, 'atlas' | 'layers' | 'places'>): (string | number)[][] {
  return [['step', 'item', 'layer', 'head', ...atlas.metrics], ...places.map((place) => [
    atlas.step, atlas.item, layers[place.layer]!.layer, place.head, ...atlas.metrics.map((metric) => forFile(metricAt(atlas, metric, place))),
  ])];
}
