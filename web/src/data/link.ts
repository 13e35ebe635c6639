// Link: the page's address behind the "#". Everything that the page shows follows from it.

export interface Link {
  /** null: a view without a run. */
  run: string | null;
  /** Empty: the first view. */
  view: string;
  /** Global; null follows the newest. */
  step: number | null;
  params: Readonly<Record<string, string>>;
}

/** "#/run/NAME/VIEW?step=12&layer=3", or "#/VIEW?q=x" of a view without a run. */
export function parseLink(hash: string): Link {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const params: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) params[name] = value;
  const step = stepOf(params['step']);
  delete params['step'];
  const parts = path.split('/').filter((part) => part !== '');
  if (parts[0] !== 'run') return { run: null, view: decoded(parts[0] ?? ''), step: null, params };
  if (parts[1] === undefined) return { run: null, view: '', step: null, params };
  return { run: decoded(parts[1]), view: decoded(parts[2] ?? ''), step, params };
}

export function formatLink(link: Link): string {
  const parts = link.run === null ? [link.view] : ['run', link.run, link.view];
  const path = `#/${parts.filter((part) => part !== '').map(encodeURIComponent).join('/')}`;
  const words = Object.entries(link.params).filter(([, value]) => value !== '');
  if (link.step !== null && link.run !== null) words.unshift(['step', String(link.step)]);
  const query = words.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** What a picture is compared with, the link's word "b": "120", "@NAME" or "120@NAME". Missing parts are the link's own. */
export interface Other {
  run: string | null;
  step: number | null;
}

export function parseOther(text: string | undefined): Other | null {
  if (text === undefined || text === '') return null;
  const [step = '', run] = text.split(/@(.*)/s);
  return { step: stepOf(step), run: run === undefined || run === '' ? null : run };
}

export function formatOther(other: Other): string {
  return `${other.step ?? ''}${other.run === null ? '' : `@${other.run}`}`;
}

function stepOf(text: string | undefined): number | null {
  if (text === undefined || !/^-?\d{1,15}$/.test(text)) return null;
  return Number(text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a literal "%"
  }
}
