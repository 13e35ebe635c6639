// What the tests of rules, confusion and comparison share: a source of given answers, and a context that writes down.
import { loadFirings } from '../data/firings';
import type { Arrays } from '../data/safetensors';
import { addressOf, SourceError, type Notice, type Parameters, type Source } from '../data/source';
import type { ViewContext } from './view';

export class GivenSource implements Source {
  readonly asked: string[] = [];
  readonly posted: { path: string; body: unknown }[] = [];

  constructor(
    readonly answers: Record<string, unknown>,
    readonly posts: Record<string, (body: never) => unknown> = {},
  ) {}

  async json<T>(path: string, parameters?: Parameters): Promise<T> {
    return this.find(addressOf(path, parameters)) as T;
  }
  async arrays(path: string, parameters?: Parameters): Promise<Arrays> {
    return this.find(addressOf(path, parameters)) as Arrays;
  }
  async post<T>(path: string, body: unknown): Promise<T> {
    this.posted.push({ path, body });
    const answer = this.posts[path];
    if (!answer) throw new SourceError('permission denied', `nobody may post to ${path}`);
    return answer(body as never) as T;
  }
  readonly givesFiles = false;
  file(): Promise<never> {
    return Promise.reject(new Error('no files'));
  }
  notices(_: (notice: Notice) => void): () => void {
    return () => undefined;
  }

  private find(address: string): unknown {
    this.asked.push(address);
    const answer = this.answers[address] ?? this.answers[address.split('?')[0]!];
    if (answer instanceof SourceError) throw answer;
    if (answer === undefined) throw new SourceError('not found', `there is no ${address}`);
    return typeof answer === 'function' ? (answer as (address: string) => unknown)(address) : answer;
  }
}

export interface WrittenContext extends ViewContext {
  changes: Record<string, string | undefined>[];
  sought: (number | null)[];
  opened: { view: string; params: Record<string, string>; step: number | null | undefined }[];
  said: string[];
}

export function contextOf(source: Source, actionsAllowed = false): WrittenContext {
  const context: WrittenContext = {
    source,
    run: { id: '00000000000000aa', name: 'first' },
    firings: () => loadFirings(source, '00000000000000aa'),
    changes: [],
    sought: [],
    opened: [],
    said: [],
    change: (params) => void context.changes.push(params),
    seek: (step) => void context.sought.push(step),
    open: (view, params, step) => void context.opened.push({ view, params, step }),
    link: (view, params, step) => `#/run/first/${view}?${new URLSearchParams({ ...params, ...(step == null ? {} : { step: String(step) }) })}`,
    announce: (text) => void context.said.push(text),
    actionsAllowed,
  };
  return context;
}

/** Lets everything that waits for an answer go on. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; ++i) await Promise.resolve();
  await new Promise((done) => setTimeout(done, 0));
}
