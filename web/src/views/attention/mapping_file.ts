// The text of attention.toml: what a user says about the attention of a run (docs/reference/attention.md).
import type { Candidate, Listing, Role } from './api';

/** What the form holds: texts, as they were typed. Empty: it is left to the program to find out. */
export interface MappingDraft {
  attention: string;
  query: string;
  key: string;
  tokens: string;
  heads: string;
  key_value_heads: string;
  scale: string;
  mask: string;
  window: string;
  layout: string;
}

const LAYER = '{layer}';

/** The tensors that a name means; "{layer}" in it matches a number. */
export function namesMeant(pattern: string, names: readonly string[]): string[] {
  if (pattern === '') return [];
  if (!pattern.includes(LAYER)) return names.filter((name) => name === pattern);
  const [before = '', ...rest] = pattern.split(LAYER);
  const after = rest.join(LAYER);
  return names.filter((name) =>
    name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after) &&
    /^\d+$/.test(name.slice(before.length, name.length - after.length)));
}

/** Names with a number in them made one pattern: those that mean most tensors first, then the names themselves. */
export function patternsOf(names: readonly string[]): string[] {
  const found = new Set<string>();
  for (const name of names) {
    for (const match of name.matchAll(/\d+/g)) found.add(`${name.slice(0, match.index)}${LAYER}${name.slice(match.index + match[0].length)}`);
  }
  const several = [...found].map((pattern) => ({ pattern, count: namesMeant(pattern, names).length })).filter(({ count }) => count > 1);
  several.sort((a, b) => b.count - a.count);
  return [...several.map(({ pattern }) => pattern), ...names];
}

function bestPattern(candidates: readonly Candidate[]): string {
  return patternsOf(candidates.map(({ name }) => name))[0] ?? '';
}

/** What the program has found out, as a file would say it. */
export function draftOf(listing: Listing): MappingDraft {
  const layer = listing.layers[0];
  const named = (role: 'attention' | 'query' | 'key'): string => {
    const names = listing.layers.flatMap((each) => (each[role] ? [each[role].name] : []));
    const pattern = patternsOf(names)[0] ?? '';
    return names.length > 0 && namesMeant(pattern, names).length === names.length ? pattern : bestPattern(listing.candidates[role]);
  };
  return {
    attention: named('attention'), query: named('query'), key: named('key'),
    tokens: listing.tokens?.name ?? listing.candidates.tokens[0]?.name ?? '',
    heads: layer && layer.heads > 0 ? String(layer.heads) : '', key_value_heads: '', scale: '',
    mask: layer?.mask ?? '', window: layer?.window === undefined ? '' : String(layer.window), layout: '',
  };
}

/** A text in TOML. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\u007f/g, '\\u007f');
}

export function textOf(draft: MappingDraft): string {
  const lines = ['# Which tensors of this run are attention. Lies in the run\'s folder as attention.toml.'];
  for (const role of ['attention', 'query', 'key', 'tokens'] as const) if (draft[role] !== '') lines.push(`${role} = ${quoted(draft[role])}`);
  for (const number of ['heads', 'key_value_heads', 'scale'] as const) if (draft[number] !== '') lines.push(`${number} = ${draft[number]}`);
  if (draft.mask !== '') lines.push(`mask = ${quoted(draft.mask)}`);
  if (draft.mask === 'window' && draft.window !== '') lines.push(`window = ${draft.window}`);
  if (draft.layout !== '') lines.push(`layout = ${quoted(draft.layout)}`);
  return `${lines.join('\n')}\n`;
}

/** What would be refused, or would not do what it looks like; empty when all is well. */
export function faultsOf(draft: MappingDraft, candidates: Listing['candidates']): string[] {
  const faults: string[] = [];
  if ((draft.query === '') !== (draft.key === '')) faults.push('Queries and keys are of use together only: name both, or neither.');
  const patterns = [draft.attention, draft.query, draft.key].filter((pattern) => pattern !== '');
  if (new Set(patterns.map((pattern) => pattern.includes(LAYER))).size > 1) faults.push(`Either all names of a layer have ${LAYER} in them, or none.`);
  for (const number of ['heads', 'key_value_heads', 'window'] as const) {
    if (draft[number] !== '' && !/^[1-9]\d*$/.test(draft[number])) faults.push(`${number} is a whole number from 1 on.`);
  }
  if (draft.scale !== '' && !(Number.isFinite(Number(draft.scale)) && draft.scale.trim() !== '')) faults.push('scale is a number.');
  if (draft.mask === 'window' && draft.window === '') faults.push('A window has a number of tokens.');
  for (const role of ['attention', 'query', 'key', 'tokens'] as const satisfies readonly Role[]) {
    const names = candidates[role].map(({ name }) => name);
    if (draft[role] !== '' && namesMeant(draft[role], names).length === 0) {
      faults.push(`No tensor that could be ${role} is called ${draft[role]}. It may still be right: the program looks at all tensors.`);
    }
  }
  return faults;
}
