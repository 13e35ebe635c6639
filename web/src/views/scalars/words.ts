// What the link says of the scalars, read once.
import type { ViewState } from '../view';
import { axisOf, type Axis } from './axis';
import type { Spread } from './group_mean';
import type { YScale } from './look';

/** More runs than these are a tangle, and slow. */
const MOST_RUNS = 50;

export interface Words {
  search: string;
  of: string | undefined;
  mode: string | undefined;
  axis: Axis;
  y: YScale;
  smooth: number;
  /** Outliers are left out. */
  clip: boolean;
  /** The panel that is shown alone, large. */
  panel: string | undefined;
  /** Other runs that are drawn over this one. */
  runs: string[];
  /** What overlaid runs are grouped by (groups.ts); undefined: each has its own lines. */
  group: string | undefined;
  spread: Spread;
  /** All that is found in one chart. */
  together: boolean;
  /** Sections that were folded away or opened. */
  shut: Set<string>;
  open: Set<string>;
  /** Steps, both ends included. */
  from: number | undefined;
  to: number | undefined;
  pins: string[];
  hidden: Set<string>;
  table: boolean;
}

export function wordsOf(params: ViewState['params']): Words {
  const y = params['y'];
  const runs = listOf(params['runs']).slice(0, MOST_RUNS);
  const group = runs.length > 0 ? params['group'] : undefined;
  const axis = axisOf(params['x']);
  return {
    search: params['q'] ?? '',
    of: params['of'],
    mode: params['mode'],
    axis: group !== undefined && (axis === 'time' || axis === 'relative') ? 'train' : axis, // runs of a group share steps, not times
    y: y === 'log' || y === 'symlog' ? y : 'linear',
    smooth: Math.min(0.99, Math.max(0, Number(params['smooth'] ?? 0) || 0)),
    clip: params['clip'] === '1',
    panel: params['panel'],
    runs,
    group,
    spread: params['spread'] === 'range' ? 'range' : 'deviation',
    together: params['together'] === '1',
    shut: new Set(listOf(params['shut'])),
    open: new Set(listOf(params['open'])),
    from: wholeOf(params['from']),
    to: wholeOf(params['to']),
    pins: listOf(params['pin']),
    hidden: new Set(listOf(params['hide'])),
    table: params['table'] === '1',
  };
}

export function listOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split('\n');
}

function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The list with the item in it, or without it; undefined when nothing is left, as a link has it. */
export function toggled(list: readonly string[], item: string): string | undefined {
  const next = list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
  return next.length === 0 ? undefined : next.join('\n');
}
