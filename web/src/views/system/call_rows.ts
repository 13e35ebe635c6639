// Rows of the calls of a window: each track has a head and its depths below it.
import type { CallIndex, CallLane } from './call_index';

export const ROW = 17;
export const HEAD = 20;
const TRACK_GAP = 6;

export interface TrackRow {
  track: number;
  /** Of its head. */
  top: number;
  lanes: { lane: CallLane; top: number }[];
}

/** Tracks with the earliest first call come first, as they stand in the answer. */
export function rowsOf(index: CallIndex): { rows: TrackRow[]; height: number } {
  const rows: TrackRow[] = [];
  let top = 0;
  for (const lane of index.lanes) {
    let row = rows.at(-1);
    if (!row || row.track !== lane.track) {
      if (row) top += TRACK_GAP;
      row = { track: lane.track, top, lanes: [] };
      rows.push(row);
      top += HEAD;
    }
    row.lanes.push({ lane, top });
    top += ROW;
  }
  return { rows, height: top };
}

export function laneAt(rows: readonly TrackRow[], y: number): CallLane | undefined {
  for (const row of rows) {
    for (const { lane, top } of row.lanes) if (y >= top && y < top + ROW) return lane;
  }
  return undefined;
}
