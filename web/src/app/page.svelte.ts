// Page: the state of the page: its link, its session, the announcements for screen readers.
import { idOf } from '../data/ids';
import { formatLink, parseLink, type Link } from '../data/link';
import { HttpSource, tokenIn, type Session } from '../data/http_source';
import type { FeedState } from '../data/notice_feed';
import { SourceError } from '../data/source';
import { viewOf } from '../views';
import { openPlaces } from './places';

/** The shortest time between two announcements for a screen reader; of several in between, the newest is made. */
const QUIET_MS = 5000;

/** Of places that somebody runs through, as layers by the arrow keys, the way back knows the first and the last. */
const QUICK_MS = 700;

export class Page {
  readonly source: HttpSource;
  link = $state.raw<Link>(parseLink(''));
  session = $state.raw<Session | null>(null);
  /** The views without a run that this server has. */
  places = $derived(openPlaces(this.session?.areas ?? []));
  problem = $state.raw<SourceError | null>(null);
  feed = $state<FeedState>('connecting');
  said = $state('');
  /** Grows when the shown run must be opened again. */
  opened = $state(0);
  /** Of the run that is shown, with how many of its rules have fired; for the browser's tab. */
  title = $state('');

  private quickUntil = 0;
  private waiting: string | null = null;
  private quietUntil = 0;

  constructor(source = new HttpSource()) {
    this.source = source;
  }

  async start(): Promise<void> {
    const token = this.takeAddress();
    addEventListener('hashchange', () => {
      const another = this.takeAddress(); // a link pasted into this tab, from a server that was started again
      if (another !== undefined) void this.enter(another);
    });
    addEventListener('popstate', () => (this.link = parseLink(location.hash)));
    this.source.feed.onState((state) => (this.feed = state));
    await this.enter(token);
  }

  /** Takes the token out of the address before anything else can see it. */
  private takeAddress(): string | undefined {
    const { token, rest } = tokenIn(location.hash);
    if (token !== undefined) history.replaceState(null, '', location.pathname + location.search + (rest || '#/'));
    this.link = parseLink(location.hash);
    return token;
  }

  async enter(token?: string): Promise<void> {
    try {
      this.session = await this.source.open(token, this.lookAhead());
      this.problem = null;
    } catch (error) {
      this.problem = asSourceError(error);
    }
  }

  /** Begins to load the view of the link. Gives what is certain to be asked for. */
  private lookAhead(): string[] {
    const { run, view } = this.link;
    if (run === null) return [];
    const kind = viewOf(view);
    kind.load().catch(() => undefined); // who mounts it gets its error
    return ['/steps', ...(kind.ahead ?? [])].map((path) => `/runs/${idOf(run)}${path}`);
  }

  /** Opens the run that now has the shown one's name. */
  reopen(): void {
    ++this.opened;
  }

  /** `replace`: the way back leads to where the last push was; for what changes often, like the cursor. */
  go(link: Link, replace = false): void {
    const address = formatLink(link);
    if (address === formatLink(this.link)) return;
    const isQuick = Date.now() < this.quickUntil && link.view === this.link.view && link.run === this.link.run;
    if (replace || isQuick) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    if (!replace) this.quickUntil = Date.now() + QUICK_MS;
    this.link = link;
  }

  change(params: Record<string, string | undefined>, replace = true): void {
    const merged: Record<string, string> = { ...this.link.params };
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined) delete merged[name];
      else merged[name] = value;
    }
    this.go({ ...this.link, params: merged }, replace);
  }

  seek(step: number | null): void {
    this.go({ ...this.link, step }, true);
  }

  announce(text: string): void {
    if (this.waiting !== null) {
      this.waiting = text;
      return;
    }
    const now = Date.now();
    if (now >= this.quietUntil) {
      this.say(text);
      return;
    }
    this.waiting = text;
    setTimeout(() => {
      this.say(this.waiting ?? '');
      this.waiting = null;
    }, this.quietUntil - now);
  }

  private say(text: string): void {
    this.said = text;
    this.quietUntil = Date.now() + QUIET_MS;
  }
}

export function asSourceError(error: unknown): SourceError {
  return error instanceof SourceError ? error : new SourceError('internal', error instanceof Error ? error.message : String(error));
}
