// ArchiveSource: a run in one file, as a source. The answers were taken from a server by `trainwarden export --to page`
// (src/ui/answers/run_archive.cc says which); what is asked for in another width, of fewer tensors, heads or tokens, or at a step
// between, is cut out of the nearest of them.
import { HttpSource, type Session } from './http_source';
import { arrayOf, Arrays, decodeArrays, type NdArray } from './safetensors';
import { addressOf, SourceError, type Parameters } from './source';

interface ArchivedAnswer {
  path: string;
  parameters: URLSearchParams;
  body: Uint8Array;
}

/** How much is shown, not what. */
const SOFT = new Set(['points', 'buckets', 'most', 'bins', 'size', 'from', 'to', 'first', 'limit', 'after', 'with', 'columns']);
const CHOOSES_PARTS = new Set(['tensors', 'heads', 'queries']);

function parsed(address: string): { path: string; parameters: URLSearchParams } {
  const [path = '', query = ''] = address.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  if (parameters.get('item') === '0') parameters.delete('item');
  return { path, parameters };
}

function listIn(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(',');
}

/** Do both ask for the same thing, but for its step, its width and its parts? */
function isSameQuestion(a: URLSearchParams, b: URLSearchParams): boolean {
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].every((name) => name === 'step' || SOFT.has(name) || CHOOSES_PARTS.has(name) || a.get(name) === b.get(name));
}

export class Archive {
  private readonly answers: ArchivedAnswer[];
  private readonly byPath = new Map<string, ArchivedAnswer[]>();

  /** `document`: a safetensors document of bytes "0", "1", ..., whose metadata names their addresses. */
  constructor(document: ArrayBuffer) {
    const arrays = decodeArrays(document);
    const addresses = arrays.json<string[]>('addresses') ?? [];
    this.answers = addresses.map((address, i) => ({ ...parsed(address), body: arrays.u8(String(i)) }));
    for (const answer of this.answers) {
      const others = this.byPath.get(answer.path);
      if (others) others.push(answer);
      else this.byPath.set(answer.path, [answer]);
    }
  }

  /** The one at the wanted step, the newest before it, else the first. */
  find(address: string, fits: (answer: ArchivedAnswer) => boolean = () => true): ArchivedAnswer {
    const { path, parameters } = parsed(address);
    const fitting = (this.byPath.get(path) ?? []).filter((each) => isSameQuestion(each.parameters, parameters) && fits(each));
    const stepOf = (answer: ArchivedAnswer) => Number(answer.parameters.get('step') ?? 0);
    fitting.sort((a, b) => stepOf(a) - stepOf(b));
    const wanted = Number(parameters.get('step') ?? Infinity);
    const found = fitting.filter((each) => stepOf(each) <= wanted).at(-1) ?? fitting[0];
    if (found) return found;
    throw new SourceError('not found', 'This file does not hold it; the run itself, shown by `trainwarden serve`, does.');
  }
}

/** An array like `array`, of these pieces of it. */
function pieced(array: NdArray, shape: number[], pieces: Uint8Array[]): NdArray {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return arrayOf(array.dtype, shape, bytes);
}

/** The rows of the first axis that are wanted. */
function rowsOf(array: NdArray, rows: readonly number[]): NdArray {
  const each = array.bytes.byteLength / array.shape[0]!;
  const pieces = rows.map((row) => array.bytes.subarray(row * each, (row + 1) * each));
  return pieced(array, [rows.length, ...array.shape.slice(1)], pieces);
}

/** One answer of the series of several answers; with a mode, of those that are of it. */
function joinSeries(each: Arrays[], mode: string | null): Arrays {
  const arrays = new Map<string, NdArray>();
  const words: { mode?: string | null }[] = [];
  for (const one of each) {
    (one.json<{ mode?: string | null }[]>('series') ?? []).forEach((series, i) => {
      if (mode !== null && series.mode !== mode) return;
      for (const [name, array] of one.arrays) {
        if (name.startsWith(`${i}.`)) arrays.set(`${words.length}.${name.slice(`${i}.`.length)}`, array);
      }
      words.push(series);
    });
  }
  return new Arrays(arrays, {
    series: JSON.stringify(words),
    output: JSON.stringify(each[0]?.json('output') ?? null), // of the run: the same in all
  });
}

/** One answer about the tensors `ids`, out of one about many. */
function tensorRows(all: Arrays, held: string[], ids: string[]): Arrays {
  const rows = ids.map((id) => held.indexOf(id));
  return new Arrays(new Map([...all.arrays].map(([name, array]) => [name, rowsOf(array, rows)])), all.metadata);
}

/** Heads, queries and first tokens out of whole layers. */
function attentionPart(all: Arrays, asked: URLSearchParams): Arrays {
  const weights = all.get('weights');
  const [, queries, keys] = weights.shape as [number, number, number];
  const held = all.json<number[]>('heads') ?? [];
  const heads = asked.has('heads') ? listIn(asked.get('heads')).map(Number) : held;
  const first = Math.min(Number(asked.get('first') ?? keys) || keys, keys);
  const rows = asked.has('queries') ? listIn(asked.get('queries')).map(Number) : Array.from({ length: Math.min(first, queries) }, (_, i) => i);
  const width = asked.has('queries') ? keys : first;
  if (rows.some((row) => row >= queries) || heads.some((head) => !held.includes(head))) {
    throw new SourceError('out of range', `This file holds the first ${queries} tokens of heads ${held.join(', ')}.`);
  }
  const size = weights.bytes.byteLength / (weights.shape[0]! * queries * keys);
  const pieces = heads.flatMap((head) => rows.map((row) => {
    const at = (held.indexOf(head) * queries + row) * keys * size;
    return weights.bytes.subarray(at, at + width * size);
  }));
  const shared = all.json<number[]>('key_value_head') ?? held;
  return new Arrays(new Map([['weights', pieced(weights, [heads.length, rows.length, width], pieces)]]), {
    ...all.metadata,
    heads: JSON.stringify(heads),
    key_value_head: JSON.stringify(heads.map((head) => shared[held.indexOf(head)])),
  });
}

export class ArchiveSource extends HttpSource {
  /** `archive` is unpacked once somebody asks. */
  constructor(private readonly archive: Promise<Archive>) {
    super('', () => Promise.reject(new Error('a saved page asks no server')));
    this.feed.state = 'saved';
  }

  override async json<T>(path: string, parameters?: Parameters): Promise<T> {
    const found = (await this.archive).find(addressOf(path, parameters));
    return JSON.parse(new TextDecoder().decode(found.body)) as T;
  }

  override async arrays(path: string, parameters?: Parameters): Promise<Arrays> {
    const archive = await this.archive;
    const address = addressOf(path, parameters);
    const asked = new URLSearchParams(address.split(/\?(.*)/s)[1] ?? '');
    const ids = listIn(asked.get('tensors'));
    if (path.endsWith('/series')) {
      const mode = asked.get('mode');
      const of = addressOf(path, { ...parameters, mode: undefined, by: mode === null ? parameters?.['by'] : 'mode' });
      return joinSeries(ids.map((id) => decode(archive.find(of, (each) => each.parameters.get('tensors') === id))), mode);
    }
    if (/^\/runs\/[^/]*\/statistics$/.test(path)) {
      const holds = (each: ArchivedAnswer) => ids.every((id) => listIn(each.parameters.get('tensors')).includes(id));
      const found = archive.find(address, holds);
      return tensorRows(decode(found), listIn(found.parameters.get('tensors')), ids);
    }
    if (/\/attention\/(head|rows)$/.test(path)) {
      return attentionPart(decode(archive.find(address.replace('/attention/rows', '/attention/head'))), asked);
    }
    return decode(archive.find(address));
  }

  override post<T>(): Promise<T> {
    return Promise.reject(new SourceError('permission denied', 'A saved page does not act on the training.'));
  }

  override get givesFiles(): boolean {
    return false;
  }

  /** Never: it does not change. */
  override notices(): () => void {
    return () => undefined;
  }

  override open(): Promise<Session> {
    return this.json<Session>('/about');
  }
}

function decode(answer: ArchivedAnswer): Arrays {
  return decodeArrays(answer.body);
}

async function unpack(base64: string): Promise<Archive> {
  const packed = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Archive(await new Response(stream).arrayBuffer());
}

/** What this page was saved with, and where it opens; nothing when a server sent it. */
export function savedRun(root: ParentNode = document): { source: ArchiveSource; link: string } | undefined {
  const element = root.querySelector<HTMLScriptElement>('script#answers');
  if (!element) return undefined;
  const link = `#/run/${element.dataset['run'] ?? ''}`;
  return { source: new ArchiveSource(unpack(element.textContent ?? '')), link };
}
