// The colour of a head, and the dash that distinguishes it without colour.
import { categories, categoryOf } from '../../draw/colours';

import type { Weights } from './api';

/** Dashes of heads whose colours are the same. */
const ROUNDS: readonly (readonly number[])[] = [[], [10, 4], [4, 4], [12, 3, 3, 3]];

export interface HeadLook {
  colour: string;
  dash: readonly number[];
}

export function lookOf(head: number, dark: boolean): HeadLook {
  const category = categoryOf(head);
  const round = Math.floor(head / categories.length);
  return {
    colour: dark ? category.dark : category.light,
    dash: round === 0 ? category.dash : ROUNDS[round % ROUNDS.length]!,
  };
}

/** Of one of the heads that are drawn; of differences: orange for more, blue and dashed for less. */
export function lookIn(weights: Weights, head: number, dark: boolean): HeadLook {
  if (weights.comparedWith === null) return lookOf(weights.heads[head]!, dark);
  return { ...lookOf(head === 0 ? 1 : 0, dark), dash: head === 0 ? [] : [6, 4] };
}

export function channelsOf(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
