// RelaySource: the kernel of a notebook as a source. Questions and answers are messages of the widget, which go wherever
// the notebook's own go: no port of the kernel's machine has to be reached.
import { type Arrays, decodeArrays } from '../data/safetensors';
import { addressOf, type Notice, type Parameters, type Source, SourceError } from '../data/source';

/** What of a widget's model is used here. */
export interface Channel {
  on(event: 'msg:custom', listener: (message: unknown, buffers: DataView[]) => void): void;
  off(event: 'msg:custom', listener: (message: unknown, buffers: DataView[]) => void): void;
  send(message: unknown): void;
}

interface Reply {
  kind: 'answer';
  id: number;
  type: 'json' | 'arrays' | 'error';
  /** Of type error. */
  code?: string;
  message?: string;
}

interface Waiting {
  settle(reply: Reply, body: Uint8Array | undefined): void;
  fail(error: unknown): void;
}

const PATIENCE_MS = 60_000;

export class RelaySource implements Source {
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Set<(notice: Notice) => void>();
  private asked = 0;

  constructor(private readonly channel: Channel, private readonly patienceMs = PATIENCE_MS) {
    channel.on('msg:custom', this.onMessage);
  }

  async json<T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
    const body = await this.ask(addressOf(path, parameters), 'json', signal);
    return JSON.parse(new TextDecoder().decode(body)) as T;
  }

  async arrays(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<Arrays> {
    return decodeArrays(await this.ask(addressOf(path, parameters), 'arrays', signal));
  }

  post<T>(): Promise<T> {
    return Promise.reject(new SourceError('permission denied', "a notebook's views do not act on the training"));
  }

  readonly givesFiles = false;

  file(): Promise<never> {
    return Promise.reject(new SourceError('unimplemented', 'only a server gives files'));
  }

  notices(listener: (notice: Notice) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called when the kernel reports news of the run. */
  notify(notice: Notice): void {
    for (const listener of this.listeners) listener(notice);
  }

  close(): void {
    this.channel.off('msg:custom', this.onMessage);
    for (const each of this.waiting.values()) each.fail(new SourceError('unreachable', 'the view was closed'));
    this.waiting.clear();
  }

  private ask(address: string, type: 'json' | 'arrays', signal?: AbortSignal): Promise<Uint8Array> {
    const id = ++this.asked;
    return new Promise<Uint8Array>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const late = setTimeout(() => this.waiting.get(id)?.fail(
        new SourceError('unreachable', 'The kernel does not answer. Run the cell again when it is idle.'),
      ), this.patienceMs);
      const over = (): void => {
        clearTimeout(late);
        this.waiting.delete(id);
        signal?.removeEventListener('abort', aborted);
      };
      const fail = (error: unknown): void => {
        over();
        reject(error);
      };
      const aborted = (): void => fail(signal!.reason);
      signal?.addEventListener('abort', aborted);
      this.waiting.set(id, {
        fail,
        settle: (reply, body) => {
          if (reply.type === 'error') return fail(new SourceError(reply.code ?? 'internal', reply.message ?? 'no reason given'));
          if (reply.type !== type || !body) return fail(new SourceError('internal', `expected ${type} from ${address}, got ${reply.type}`));
          over();
          resolve(body);
        },
      });
      this.channel.send({ kind: 'ask', id, address });
    });
  }

  private readonly onMessage = (message: unknown, buffers: DataView[]): void => {
    const reply = message as Reply;
    if (reply?.kind !== 'answer') return;
    const buffer = buffers[0];
    const body = buffer && new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.waiting.get(reply.id)?.settle(reply, body);
  };
}
