// The colour of a head, and the dash that tells it from others without colour.
import { categories, categoryOf } from '../../draw/colours';

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

export function channelsOf(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
