// Which panels there are: one for each quantity, in sections, what people look for first standing first.
import { isLoss } from '../series';
import { searchFor, type Choice } from './choice';

export interface Panel {
  /** What the link calls it. */
  key: string;
  title: string;
  /** Of one quantity: what trains and what evaluates, by their names. */
  choices: Choice[];
}

export interface Section {
  key: string;
  title: string;
  panels: Panel[];
  /** Folded away until somebody opens it. */
  folded: boolean;
}

export interface Sections {
  sections: Section[];
  /** Why the search is no search. */
  fault: string | undefined;
}

// In which data a number was measured, at either end of its name: "val_loss", "train-rmse", "accuracy/test".
const DATA = '(?:train(?:ing)?|val(?:id(?:ation)?)?(?:_\\d+)?|eval(?:uation)?|test|dev)';
const AT_THE_BEGINNING = new RegExp(`^${DATA}[-_/.]+(?=.)`, 'i');
const AT_THE_END = new RegExp(`(?<=.)[-_/.]+${DATA}$`, 'i');

// What the product measures itself: what a person wants to see of a training, and what of the machine and of the step.
const OF_THE_TRAINING = /^trainwarden\/(?:learning_rate\/.*|samples_per_second|step_seconds|batch\/size)$/;
const OF_THE_MACHINE = /^(?:trainwarden|phase(?:_\w+)?)\//;

/** Of collections that hold tensors of layers, in the order of their sections. */
const LAYERS: readonly [collection: string, title: string][] = [
  ['gradients', 'Gradients'], ['weights', 'Weights'], ['biases', 'Biases'], ['outputs', 'Outputs'], ['inputs', 'Inputs'],
  ['optimizer_state', 'State of the optimizer'],
];

/** "loss" of "val_loss" and of "loss". */
export function quantityOf(name: string): string {
  return name.replace(AT_THE_BEGINNING, '').replace(AT_THE_END, '');
}

/** Pinned panels, losses, metrics, other numbers by the first part of their names, then machine and layers, folded. */
export function sectionsOf(choices: readonly Choice[], search: string, pins: readonly string[]): Sections {
  const { test, fault } = searchFor(search);
  const found = choices.filter((choice) => test(choice) && (search !== '' || !isText(choice)));
  const bySection = new Map<string, { title: string; folded: boolean; rank: number; choices: Choice[] }>();
  for (const choice of found) {
    const place = placeOf(choice);
    const known = bySection.get(place.key);
    if (known) known.choices.push(choice);
    else bySection.set(place.key, { ...place, choices: [choice] });
  }
  const sections = [...bySection]
    .sort(([a, { rank: left }], [b, { rank: right }]) => left - right || a.localeCompare(b))
    .map(([key, { title, folded, choices: members }]): Section => ({ key, title, folded: folded && search === '', panels: panelsOf(key, members) }));
  const pinned = sections.flatMap(({ panels }) => panels).filter(({ key }) => pins.includes(key));
  if (pinned.length === 0) return { sections, fault };
  const rest = sections.map((section) => ({ ...section, panels: section.panels.filter((panel) => !pinned.includes(panel)) }));
  return { sections: [{ key: 'pinned', title: 'Pinned', folded: false, panels: pinned }, ...rest.filter(({ panels }) => panels.length > 0)], fault };
}

/** Of the signals these are no numbers, but facts for the rules, as texts. */
function isText({ name, collections }: Choice): boolean {
  return name.startsWith('trainwarden/') && !collections.includes('scalars');
}

function placeOf(choice: Choice): { key: string; title: string; folded: boolean; rank: number } {
  if (OF_THE_TRAINING.test(choice.name)) return { key: 'training', title: 'Pace and learning rate', folded: false, rank: 3 };
  if (OF_THE_MACHINE.test(choice.name)) return { key: 'machine', title: 'Machine and phases of a step', folded: true, rank: 4 };
  if (isLoss(choice)) return { key: 'losses', title: 'Losses', folded: false, rank: 0 };
  const prefix = /^([^/]+)\/./.exec(quantityOf(choice.name))?.[1];
  const isNumber = choice.collections.includes('metrics') || choice.collections.includes('scalars');
  if (isNumber && prefix === undefined) return { key: 'metrics', title: 'Metrics', folded: false, rank: 1 };
  const layer = LAYERS.findIndex(([collection]) => choice.collections.includes(collection));
  if (!isNumber && layer >= 0) return { key: LAYERS[layer]![0], title: LAYERS[layer]![1], folded: true, rank: 5 + layer };
  if (isNumber) return { key: `prefix ${prefix}`, title: prefix!, folded: false, rank: 2 };
  const collection = choice.collections[0] ?? 'other tensors';
  return { key: `collection ${collection}`, title: collection, folded: true, rank: 20 };
}

/** One quantity of several data is one panel; a layer's tensor is one by itself. */
function panelsOf(section: string, choices: readonly Choice[]): Panel[] {
  if (LAYERS.some(([collection]) => collection === section)) {
    return choices.map((choice) => ({ key: choice.name, title: choice.name, choices: [choice] }));
  }
  const byQuantity = new Map<string, Choice[]>();
  for (const choice of choices) {
    const quantity = quantityOf(choice.name);
    byQuantity.set(quantity, [...(byQuantity.get(quantity) ?? []), choice]);
  }
  return [...byQuantity].map(([quantity, members]) => {
    const key = members.length === 1 ? members[0]!.name : quantity;
    return { key, title: key.replace(/^trainwarden\//, ''), choices: members };
  });
}
