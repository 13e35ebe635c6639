// Key: the token of the server's link, as long as this tab lives. No cookie: browsers send those to every port of a host.

/** Where a tab keeps a word over a reload. */
export type TabStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const WAIT_MS = 300;

type Said = { asks: true } | { key: string };

/**
 * A tab that was opened from another one has no key of its own: it asks the other tabs. Only pages of this origin (host and
 * port) receive the question.
 */
export class Key {
  private now: string | undefined;
  private readonly channel: BroadcastChannel | null;
  private received: ((key: string) => void) | null = null;

  constructor(
    private readonly name: string,
    private readonly store: TabStore | null = tabStore(),
  ) {
    this.channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(name);
    if (this.channel) this.channel.onmessage = (message: MessageEvent<Said>) => this.receive(message.data);
  }

  get value(): string | undefined {
    return this.now;
  }

  /** The key of the address, else of this tab, else of another one. */
  async find(given?: string): Promise<string | undefined> {
    const known = given ?? this.now ?? this.store?.getItem(this.name) ?? undefined;
    return (this.now = known ?? (await this.askOthers()));
  }

  /** The server took it. */
  keep(): void {
    if (this.now !== undefined) this.store?.setItem(this.name, this.now);
  }

  /** The server did not: it is of another start. */
  drop(): void {
    this.now = undefined;
    this.store?.removeItem(this.name);
  }

  private receive(said: Said): void {
    if ('key' in said) this.received?.(said.key);
    else if (this.now !== undefined) this.channel?.postMessage({ key: this.now } satisfies Said);
  }

  private askOthers(): Promise<string | undefined> {
    if (!this.channel) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const done = (key?: string) => {
        clearTimeout(timer);
        this.received = null;
        resolve(key);
      };
      const timer = setTimeout(done, WAIT_MS);
      this.received = done;
      this.channel?.postMessage({ asks: true } satisfies Said);
    });
  }
}

/** None where the browser forbids it: then the key lasts until the page is reloaded. */
function tabStore(): TabStore | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
