// Reads server-sent events from bytes that come in any pieces. Source: the HTML standard, "event stream interpretation".

export interface StreamEvent {
  name: string;
  data: string;
  id: string | undefined;
}

export class EventStream {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private name = '';
  private data: string[] = [];
  private id: string | undefined;

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): StreamEvent[] {
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.take(line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  private take(line: string): StreamEvent[] {
    if (line === '') return this.complete();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.name = value;
    if (field === 'data') this.data.push(value);
    if (field === 'id') this.id = value;
    return []; // a line that begins with ":" says that the server is alive
  }

  private complete(): StreamEvent[] {
    const event = { name: this.name || 'message', data: this.data.join('\n'), id: this.id };
    const empty = this.data.length === 0;
    this.name = '';
    this.data = [];
    return empty ? [] : [event];
  }
}
