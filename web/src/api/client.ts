// The one way to the server: typed by the OpenAPI document, refusals thrown as `Problem`.
import createClient from "openapi-fetch";

import { Problem } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

export const api = createClient<paths>({ baseUrl: "" });

api.use({
  onRequest({ request }) {
    // No form of another site can send this header: it tells our own pages apart.
    if (request.method !== "GET") request.headers.set("x-cadenza-csrf", "1");
    return request;
  },
});

interface Answered<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Unwrap an answer, or throw the problem that the server told. */
export async function take<Data>(asked: Promise<Answered<Data>>): Promise<Data> {
  let answered: Answered<Data>;
  try {
    answered = await asked;
  } catch {
    throw new Problem(0, "offline", "The server cannot be reached. Nothing was changed.");
  }
  if (answered.response.ok) return answered.data as Data;
  throw Problem.read(answered.response.status, answered.error);
}

/** Take the answer together with the name of the state it shows, for `If-Match`. */
export async function takeTagged<Data>(
  asked: Promise<Answered<Data>>,
): Promise<{ data: Data; etag: string | null }> {
  const answered = await asked;
  const data = await take(Promise.resolve(answered));
  return { data, etag: answered.response.headers.get("etag") };
}

/** What a path answers with, by its method: for shapes whose name the document does not keep. */
export type AnswerOf<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
