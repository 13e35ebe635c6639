// uPlot asks the browser for its language and its time zone as soon as it is loaded. The browser then reads its tables of
// languages, for 20 ms and more, before a first chart that shows neither. Here it is asked when they are needed.
import type { Plugin } from 'vite';

const EAGER: readonly [text: string, lazy: string][] = [
  [
    "const numFormatter = new Intl.NumberFormat(domEnv ? nav.language : 'en-US');\nconst fmtNum = val => numFormatter.format(val);",
    "let numFormatter;\nconst fmtNum = val => (numFormatter ??= new Intl.NumberFormat(domEnv ? nav.language : 'en-US')).format(val);",
  ],
  ['const localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;', 'const localTz = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;'],
  ['tz == localTz', 'tz == localTz()'],
];

export function uplotLazily(): Plugin {
  return {
    name: 'uplot-lazily',
    transform(code, id) {
      if (!id.includes('/uplot/dist/uPlot.esm.js')) return;
      let text = code;
      for (const [eager, lazy] of EAGER) {
        if (text.split(eager).length !== 2) this.error(`this uPlot is another one: it does not hold once: ${eager}`);
        text = text.replace(eager, () => lazy);
      }
      return { code: text, map: null };
    },
  };
}
