// Tensors as a tree: by the parts of their names (module path), by collection, or flat.
import { compareTexts } from '../../data/text';

export type Grouping = 'path' | 'collection' | 'flat';

export interface TreeRow {
  /** 0 for the outermost. */
  level: number;
  label: string;
  /** Index of the tensor in the list; undefined for a group. */
  tensor?: number;
  /** What names a group among all: its path. */
  key?: string;
  /** Tensors in the group. */
  count?: number;
  open?: boolean;
}

interface Group {
  groups: Map<string, Group>;
  tensors: { label: string; index: number }[];
  count: number;
}

const newGroup = (): Group => ({ groups: new Map(), tensors: [], count: 0 });

/** "encoder.layer.10.fc.weight" and "gradient/conv1.weight" at dots and slashes; a part is never empty. */
export function partsOf(name: string): string[] {
  const parts = name.split(/[./]/).filter((part) => part !== '');
  return parts.length === 0 ? [name] : parts;
}

function insert(root: Group, path: readonly string[], label: string, index: number): void {
  let group = root;
  ++group.count;
  for (const part of path) {
    let next = group.groups.get(part);
    if (!next) group.groups.set(part, (next = newGroup()));
    group = next;
    ++group.count;
  }
  group.tensors.push({ label, index });
}

export class NameTree {
  private readonly root = newGroup();

  /** `shown`: indices into `names`. */
  constructor(names: readonly string[], shown: readonly number[], grouping: Grouping, collections: Record<string, readonly number[]>) {
    if (grouping === 'collection') {
      const wanted = new Set(shown);
      const homeless = new Set(shown);
      for (const collection of Object.keys(collections).sort(compareTexts)) {
        for (const index of collections[collection]!) {
          if (!wanted.has(index)) continue;
          homeless.delete(index);
          insert(this.root, [collection], names[index]!, index);
        }
      }
      for (const index of homeless) insert(this.root, ['in no collection'], names[index]!, index);
      return;
    }
    for (const index of shown) {
      const name = names[index]!;
      const parts = grouping === 'path' ? partsOf(name) : [name];
      insert(this.root, parts.slice(0, -1), parts.at(-1)!, index);
    }
  }

  /** The rows that are to be seen when `isOpen` groups are. A chain of groups with one child each is one row. */
  rows(isOpen: (key: string, level: number) => boolean, inOrder = false): TreeRow[] {
    const rows: TreeRow[] = [];
    walk(this.root, '', 0, isOpen, inOrder, rows);
    return rows;
  }
}

function walk(group: Group, prefix: string, level: number, isOpen: (key: string, level: number) => boolean, inOrder: boolean, rows: TreeRow[]): void {
  for (const part of [...group.groups.keys()].sort(compareTexts)) {
    let child = group.groups.get(part)!;
    let label = part;
    while (child.groups.size === 1 && child.tensors.length === 0) {
      const [only, next] = [...child.groups][0]!;
      label += `.${only}`;
      child = next;
    }
    const key = prefix === '' ? label : `${prefix}.${label}`;
    const open = isOpen(key, level);
    rows.push({ level, label, key, count: child.count, open });
    if (open) walk(child, key, level + 1, isOpen, inOrder, rows);
  }
  const tensors = inOrder ? group.tensors : [...group.tensors].sort((a, b) => compareTexts(a.label, b.label));
  for (const { label, index } of tensors) rows.push({ level, label, tensor: index });
}
