// Numbers as people read them.

/** Four significant digits: "0.1234", "1.235e-7", "12,346", "NaN", "−∞". */
export function short(value: number, digits = 4): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return Object.is(value, -0) ? '−0' : '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15 && size >= 1000) return minus(count(value));
  if (size >= 10 ** digits && size < 1e7) return minus(count(Math.round(value)));
  if (size >= 1e-4 && size < 1e7) return minus(trimmed(value.toPrecision(digits)));
  return minus(value.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e'));
}

/** The shortest text that gives the same bits back, of a float64 or, rounded to it, of a float32. */
export function exact(value: number, dtype: 'F64' | 'F32' = 'F64'): string {
  if (dtype === 'F64' || !Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  for (let digits = 1; digits <= 9; ++digits) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return Object.is(value, -0) ? '-0' : String(Number(text));
  }
  return String(value);
}

/** "12,345". */
export function count(value: number): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; ++unit) value /= 1024;
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

/** The largest units, as many as are wanted: "3 min 5 s", "2 d 4 h". */
export function duration(milliseconds: number, most = 2): string {
  if (!(milliseconds >= 1000)) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = Math.floor(milliseconds / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const from = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(from, from + most)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

export function age(unixMs: number, nowMs = Date.now(), mostUnits = 2): string {
  return nowMs - unixMs < 1000 ? 'just now' : `${duration(nowMs - unixMs, mostUnits)} ago`;
}

/** JSON has no numbers for these; the API writes them as texts. */
export function numberOf(json: number | string | null | undefined): number {
  if (typeof json === 'number') return json;
  return json === 'Infinity' ? Infinity : json === '-Infinity' ? -Infinity : NaN;
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function minus(text: string): string {
  return text.replace(/^-/, '−');
}
