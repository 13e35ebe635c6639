// Numbers of time and of the machine, as people read them.
import { bytes, count, duration, short } from '../../draw/numbers';

/** "62 %", "0.4 %", "less than 0.1 %". */
export function percent(share: number | null): string {
  if (share === null || !Number.isFinite(share)) return '–';
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 0.1) return 'less than 0.1 %';
  return `${hundredths < 9.95 ? short(Math.round(10 * hundredths) / 10) : Math.round(hundredths)} %`;
}

/** "340 µs", "12.5 ms", "1.25 s", "2 min 5 s". */
export function time(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return '–';
  if (ms === 0) return '0 ms';
  const size = Math.abs(ms);
  if (size < 0.001) return `${short(ms * 1e6, 3)} ns`;
  if (size < 1) return `${short(ms * 1e3, 3)} µs`;
  if (size < 1000) return `${short(ms, 3)} ms`;
  if (size < 120_000) return `${short(ms / 1000, 3)} s`;
  return duration(ms);
}

const SUFFIX: Record<string, string> = { '%': ' %', watts: ' W', celsius: ' °C', hertz: ' Hz', 'seconds': ' s', ratio: '' };

/** A value of the machine with its unit: "12 %", "3.20 GiB", "1.50 MiB/s". */
export function measured(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (unit === 'bytes') return bytes(Math.round(value));
  if (unit === 'bytes/s') return `${bytes(Math.round(value))}/s`;
  if (unit === 'ms') return time(value);
  if (unit === 'share') return percent(value);
  if (unit === '%') return `${value >= 9.95 ? Math.round(value) : short(Math.round(10 * value) / 10)} %`;
  return `${short(value, 3)}${SUFFIX[unit] ?? (unit === '' ? '' : ` ${unit}`)}`;
}

/** "1.9 ×". */
export function times(ratio: number | null): string {
  return ratio === null || !Number.isFinite(ratio) ? '–' : `${ratio.toFixed(ratio >= 9.95 ? 0 : ratio < 1.095 && ratio > 1 ? 2 : 1)} ×`;
}

/** "1 step", "1,200 steps". */
export function counted(many: number, one: string, more = `${one}s`): string {
  return `${count(many)} ${many === 1 ? one : more}`;
}

/** "14:03:05" of a moment, with tenths where the stretch is short; with the day where it is long. */
export function clock(unixMs: number, stretchMs: number): string {
  const at = new Date(unixMs);
  const two = (n: number) => String(n).padStart(2, '0');
  const tenths = stretchMs < 20_000 ? `.${Math.floor(at.getMilliseconds() / 100)}` : '';
  const day = stretchMs > 86_400_000 ? `${at.getMonth() + 1}/${at.getDate()} ` : '';
  return `${day}${two(at.getHours())}:${two(at.getMinutes())}${stretchMs > 3 * 3_600_000 ? '' : `:${two(at.getSeconds())}${tenths}`}`;
}
