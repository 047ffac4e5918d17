// The server of a component test: what it answers is the test's own. The real one is met in tests/browser.
export type Answers = (request: Request) => unknown;

let answers: Answers = () => refuse(404, "not_found", "Nobody answers here.");
export const asked: Request[] = [];

/** Answer so from now on: a value is the body of a 200, a Response is itself, a thrown error is a broken line. */
export function serve(next: Answers): void {
  answers = next;
  asked.length = 0;
}

export const refuse = (status: number, code: string, detail: string, more: object = {}): Response =>
  new Response(JSON.stringify({ type: `urn:cadenza:${code}`, detail, ...more }), { status, headers: { "content-type": "application/problem+json" } });

export const tagged = (etag: string, body: unknown): Response => new Response(JSON.stringify(body), { headers: { "content-type": "application/json", etag } });

/** The writes that were asked for, as a test compares them. */
export async function writes(): Promise<{ method: string; path: string; body: unknown; key: string | null }[]> {
  return Promise.all(
    asked
      .filter(({ method }) => method !== "GET")
      .map(async (each) => {
        const text = await each.clone().text();
        return { method: each.method, path: new URL(each.url).pathname, body: text === "" ? null : JSON.parse(text), key: each.headers.get("idempotency-key") };
      }),
  );
}

export async function answer(input: Request | string | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  asked.push(request.clone());
  const said = await answers(request);
  if (said instanceof Response) return said;
  return new Response(JSON.stringify(said ?? null), { headers: { "content-type": "application/json" } });
}
