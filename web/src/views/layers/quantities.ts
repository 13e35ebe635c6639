// What of a layer can be looked at, and what a run must have captured for it.
import { short } from '../../draw/numbers';

export interface Quantity {
  /** The API's word. */
  id: string;
  title: string;
  /** Whose tensors it is asked of, unless somebody chooses. */
  collection: string;
  /** May others be chosen? */
  ofAny: boolean;
  /** Needs the elements themselves, not only statistics of them. */
  needsValues: boolean;
  /** A share lies between 0 and 1 and is shown as percent. Others differ by powers of ten. */
  isShare: boolean;
  meaning: string;
}

export const QUANTITIES: readonly Quantity[] = [
  { id: 'norm', title: 'Gradient norm', collection: 'gradients', ofAny: false, needsValues: false, isShare: false, meaning: 'The square root of the sum of the squares of the gradient.' },
  { id: 'update_ratio', title: 'Update-to-weight ratio', collection: 'weights', ofAny: false, needsValues: true, isShare: false, meaning: 'By how much the weights have changed since the step before that has them, against their size. Near 0.001 a step is usual.' },
  { id: 'dead_share', title: 'Dead share', collection: 'relu_outputs', ofAny: false, needsValues: true, isShare: true, meaning: 'The share of the units (channels, or elements) of a ReLU that are 0 for the whole batch.' },
  { id: 'zero_share', title: 'Zero share', collection: 'outputs', ofAny: true, needsValues: false, isShare: true, meaning: 'The share of the elements that are 0.' },
  { id: 'std', title: 'Spread (std)', collection: 'outputs', ofAny: true, needsValues: false, isShare: false, meaning: 'The standard deviation of the elements.' },
  { id: 'abs_mean', title: 'Abs mean', collection: 'outputs', ofAny: true, needsValues: false, isShare: false, meaning: 'The mean of the absolute values of the elements.' },
];

export interface KeptCollection {
  name: string;
  statistics: boolean;
  values: boolean;
}

export function quantityOf(id: string | undefined): Quantity | undefined {
  return QUANTITIES.find((each) => each.id === id);
}

/** The collections that it can be asked of. */
export function collectionsFor(quantity: Quantity, kept: readonly KeptCollection[]): string[] {
  const fits = ({ name, statistics, values }: KeptCollection) => name !== 'all' && (quantity.needsValues ? values : statistics);
  return kept.filter(fits).map(({ name }) => name).filter((name) => quantity.ofAny || name === quantity.collection);
}

/** The first that the run can answer, of the collection that is usual for it if that was captured. */
export function firstKept(kept: readonly KeptCollection[]): { quantity: Quantity; collection: string } | undefined {
  const usual = QUANTITIES.find((each) => collectionsFor(each, kept).includes(each.collection));
  if (usual) return { quantity: usual, collection: usual.collection };
  const std = quantityOf('std')!;
  const collection = collectionsFor(std, kept)[0];
  return collection === undefined ? undefined : { quantity: std, collection };
}

/** The command that captures what it needs. */
export function captureLine(quantity: Quantity, collection: string): string {
  const name = /^[\w.-]+$/.test(collection) ? collection : `'${collection.replaceAll("'", "'\\''")}'`;
  return `trainwarden run --save-interval 10 --include-collection ${name} --keep ${quantity.needsValues ? 'values' : 'statistics'} -- python train.py`;
}

export function textOf(quantity: Quantity, value: number): string {
  return quantity.isShare ? `${short(100 * value)} %` : short(value);
}
