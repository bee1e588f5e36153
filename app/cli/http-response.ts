/**
 * Parses a whole HTTP response whose end was the end of the connection; null when it is cut short or not HTTP. The response
 * must state its length. Without a length, the response of a server that was killed halfway would look complete.
 */
export function parseHttpResponse(bytes: Buffer): { readonly status: number; readonly body: string } | null {
  const split = bytes.indexOf('\r\n\r\n');
  if (split === -1) return null;
  const head = bytes.toString('latin1', 0, split);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = bytes.subarray(split + 4);
  if (status === undefined || Number(length) !== body.length) return null;
  return { status: Number(status), body: body.toString('utf8') };
}
