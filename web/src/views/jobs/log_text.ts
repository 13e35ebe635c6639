// What a program printed, as text that can be shown: what drives a terminal is left out.
import { shown } from '../../data/text';

// Colours, moves of the cursor, titles of windows (ECMA-48).
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;

/** One line without its end. A progress bar that was drawn over and over is shown as it was at the end. */
export function lineText(line: string): string {
  const bare = line.replace(SEQUENCES, '').replace(/\r+$/, '');
  return bare.slice(bare.lastIndexOf('\r') + 1).split('\t').map(shown).join('\t');
}

/** A log that grows: whole lines once, and the line that has no end yet. */
export class LogText {
  private open = '';

  /** The lines that these characters bring to their ends, each with its end. */
  push(text: string): string {
    const all = this.open + text;
    const end = all.lastIndexOf('\n') + 1;
    this.open = all.slice(end);
    return end === 0 ? '' : all.slice(0, end - 1).split('\n').map(lineText).join('\n') + '\n';
  }

  get unfinished(): string {
    return lineText(this.open);
  }
}
