// A tensor at a step as a line of code, to continue in another program.
import type { TensorInfo } from './api';

export interface CopyLine {
  language: string;
  text: string;
}

/** Within double quotes of Python and C++: no character of a name ends the text or the line. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One word of a shell, for any name. */
function shellWord(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

export function copyLines(run: string, info: TensorInfo, step: number | null): CopyLine[] {
  const call = info.forms.value ? 'value' : info.forms.scalar ? 'scalar' : 'statistics';
  const at = step ?? 0;
  return [
    { language: 'Python', text: `trainwarden.open(${quoted(run)}).${call}(${quoted(info.name)}, ${at})` },
    { language: 'C++', text: `trainwarden::Trial::open(${quoted(run)}).value()->${call}(${quoted(info.name)}, ${at})` },
    { language: 'CLI', text: `trainwarden value ${shellWord(run)} ${shellWord(info.name)} --step ${at}` },
  ];
}
