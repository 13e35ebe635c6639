// MappingPane: which tensors are taken for queries, keys, weights and tokens, why, and how to say it otherwise.
import { h, replace } from '../../draw/dom';
import { save } from '../../draw/files';
import { count, short } from '../../draw/numbers';
import type { Snapshot } from '../view';

import type { Candidate, Listing, Role } from './api';
import { button, chooser } from './controls';
import { type MappingDraft, draftOf, faultsOf, namesMeant, patternsOf, textOf } from './mapping_file';
import type { Moment, Pane, PaneContext } from './pane';
import { tableOf } from './tables';

const FILE = 'attention.toml';

const ROLES: Record<Role, [title: string, is: string]> = {
  attention: ['Weights', 'attention after the softmax, [batch, heads, queries, keys]'],
  query: ['Queries', 'with the keys they give the weights where none were captured, and the neuron view'],
  key: ['Keys', 'may have fewer heads than the queries'],
  tokens: ['Tokens', 'a tensor of strings, for the labels'],
};

const SOURCES: Record<Listing['source'], string> = {
  file: `This is as ${FILE} says.`,
  guessed: `This was guessed from names, shapes and values. If it is wrong, say it yourself below.`,
  none: 'Nothing in this run looks like attention.',
};

const MOST_LISTED = 200;

export class MappingPane implements Pane {
  private readonly found = h('section', {});
  private readonly form = h('section', { class: 'at-mapping' });
  private readonly output = h('textarea', { readonly: true, rows: 10, class: 'at-toml', 'aria-label': `The text of ${FILE}` });
  private readonly faults = h('ul', { class: 'at-faults' });
  private readonly counts = new Map<Role, HTMLElement>();
  private draft: MappingDraft | null = null;
  private listing: Listing | null = null;

  constructor(private readonly element: HTMLElement, private readonly context: PaneContext) {
    element.classList.add('at-mapping-pane');
    element.append(this.found, this.form);
  }

  show(moment: Moment): void {
    if (this.listing !== moment.listing) {
      this.listing = moment.listing;
      this.drawFound(moment.listing);
      this.drawForm(moment.listing);
    }
    Object.assign(this.element.dataset, { source: moment.listing.source, layers: moment.listing.layers.length });
    this.context.shown(null);
  }

  /** There is no picture of it: the file is offered on the page. */
  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.listing = null;
  }

  private drawFound(listing: Listing): void {
    const name = (tensor: { name: string } | null): string => tensor?.name ?? '–';
    const layers = listing.layers.map((layer) => [
      `${layer.layer}: ${layer.name}`, name(layer.attention), name(layer.query), name(layer.key),
      layer.heads === 0 ? 'unknown' : layer.key_value_heads === layer.heads ? String(layer.heads) : `${layer.heads}, keys ${layer.key_value_heads}`,
      layer.head_size === 0 ? '–' : String(layer.head_size), layer.scale === 0 ? '–' : short(layer.scale),
      layer.mask === 'window' ? `window ${layer.window}` : layer.mask, layer.query ? layer.layout : '–',
    ]);
    const heads = ['Layer', 'Weights', 'Queries', 'Keys', 'Heads', 'Head size', 'Scale', 'Mask', 'Layout'];
    replace(
      this.found, h('h2', {}, 'What is shown as attention'), h('p', {}, SOURCES[listing.source]), listing.note !== '' && h('p', {}, listing.note),
      layers.length > 0 && tableOf(`${count(layers.length)} layers, tokens: ${name(listing.tokens)}`, heads, layers),
      ...this.explanations(listing), ...this.candidateLists(listing),
    );
  }

  private explanations(listing: Listing): HTMLElement[] {
    const texts: string[] = [];
    const some = (holds: (layer: Listing['layers'][number]) => boolean): boolean => listing.layers.some(holds);
    if (some((layer) => !layer.attention && layer.query !== null)) texts.push('Where no weights were captured, they are worked out from queries and keys: that takes less room than the weights themselves.');
    if (some((layer) => layer.attention !== null && !layer.query)) texts.push('Without queries and keys there is no neuron view.');
    if (some((layer) => layer.heads === 0)) texts.push('Queries and keys lie in one tensor for all heads, and nobody has said how many heads there are. Give it below.');
    if (listing.layers.length === 0) texts.push('Capture the weights after the softmax, or the outputs of the layers that make queries and keys, as values and not as statistics alone.');
    return texts.map((text) => h('p', {}, text));
  }

  private candidateLists(listing: Listing): HTMLElement[] {
    return (Object.keys(ROLES) as Role[]).map((role) => {
      const candidates = listing.candidates[role];
      const rows = candidates.slice(0, MOST_LISTED).map(({ name, reason }) => [name, reason]);
      const more = candidates.length > MOST_LISTED ? `, the first ${MOST_LISTED}` : '';
      return h('details', { class: 'at-details' }, h('summary', {}, `${ROLES[role][0]}: ${candidates.length === 1 ? '1 tensor' : `${count(candidates.length)} tensors`} may be it`),
        candidates.length === 0 ? h('p', {}, 'None.') : tableOf(`Why${more}`, ['Tensor', 'Reason'], rows));
    });
  }

  private drawForm(listing: Listing): void {
    this.draft = draftOf(listing);
    const copy = button('Copy', () => void navigator.clipboard.writeText(this.output.value).then(
      () => this.context.announce('Copied'), () => this.output.select())); // where the browser forbids it, the text is marked for Ctrl+C
    replace(
      this.form, h('h2', {}, 'Assign them by hand'),
      h('p', {}, 'A name may have {layer} in it, which stands for a number. What is left empty is found out by the program.'),
      ...(Object.keys(ROLES) as Role[]).map((role) => this.nameField(role, listing.candidates[role])),
      h('div', { class: 'at-fields' }, this.numberField('heads', 'Heads'), this.numberField('key_value_heads', 'Heads of keys'), this.numberField('scale', 'Scale'),
        this.choice('mask', 'Mask', ['none', 'causal', 'window']), this.numberField('window', 'Window'), this.choice('layout', 'Layout', ['BHTD', 'BTHD', 'BTD'])),
      this.faults, this.output,
      h('div', { class: 'at-fields' }, copy, button('Download', () => save(FILE, new Blob([this.output.value], { type: 'application/toml' }))), button('Look again', () => this.context.reload())),
      h('p', { class: 'at-note' }, `Put it into the run's folder as ${FILE}, or give it to trainwarden serve with --attention, and look again. The page itself writes nothing.`),
    );
    this.changed();
  }

  private nameField(role: Role, candidates: readonly Candidate[]): HTMLElement {
    const names = candidates.map(({ name }) => name);
    const list = `at-names-${role}`;
    const input = h('input', {
      type: 'text', list, value: this.draft![role], spellcheck: 'false', autocomplete: 'off', 'data-role': role, size: 48,
      oninput: () => this.set(role, input.value),
    });
    const meant = h('span', { class: 'at-note' });
    this.counts.set(role, meant);
    const options = patternsOf(names).slice(0, MOST_LISTED).map((value) => h('option', { value }));
    return h('div', { class: 'at-fields' }, h('label', { class: 'at-field' }, h('span', { class: 'at-role' }, ROLES[role][0]), input), h('datalist', { id: list }, ...options), meant, h('span', { class: 'at-note' }, ROLES[role][1]));
  }

  private numberField(field: 'heads' | 'key_value_heads' | 'scale' | 'window', label: string): HTMLElement {
    const input = h('input', { type: 'text', inputmode: 'decimal', value: this.draft![field], size: 8, 'data-role': field, oninput: () => this.set(field, input.value.trim()) });
    return h('label', { class: 'at-field' }, h('span', {}, label), input);
  }

  private choice(field: 'mask' | 'layout', label: string, words: readonly string[]): HTMLElement {
    const control = chooser(label, [['', 'find out'], ...words.map((word) => [word, word] as const)], (value) => this.set(field, value));
    control.set(this.draft![field]);
    return control.element;
  }

  private set(field: keyof MappingDraft, value: string): void {
    if (!this.draft) return;
    this.draft = { ...this.draft, [field]: value };
    this.changed();
  }

  private changed(): void {
    const { draft, listing } = this;
    if (!draft || !listing) return;
    for (const [role, meant] of this.counts) {
      const matches = namesMeant(draft[role], listing.candidates[role].map(({ name }) => name)).length;
      meant.textContent = draft[role] === '' ? '' : `${count(matches)} of ${count(listing.candidates[role].length)}`;
    }
    replace(this.faults, ...faultsOf(draft, listing.candidates).map((fault) => h('li', {}, fault)));
    this.output.value = textOf(draft);
  }
}
