// The one way to the server: typed by the OpenAPI document, refusals thrown as `Problem`.
import createClient from "openapi-fetch";

import { answered, keyFor, unanswered } from "./once";
import { Problem } from "./problem";
import type { components, paths } from "./schema";
import { tellSessionEnd } from "./session";
import { t } from "../messages/api";

export type Schemas = components["schemas"];

const KEY = "idempotency-key";

export const api = createClient<paths>({ baseUrl: "" });

api.use({
  async onRequest({ request }) {
    if (request.method === "GET") return request;
    // No form of another site can send this header: it tells our own pages apart.
    request.headers.set("x-cadenza-csrf", "1");
    // A form with a file is written differently each time, so the server could not know it again.
    if (isLook(request) || request.headers.get("content-type")?.startsWith("multipart/") === true) return request;
    request.headers.set(KEY, keyFor(`${request.method} ${request.url} ${await request.clone().text()}`));
    return request;
  },
  async onResponse({ request, response }) {
    const key = request.headers.get(KEY);
    if (key === null) return;
    const body = await response.clone().text().catch(() => null);
    if (body === null || isVague(response.status, body)) unanswered(key);
    else answered(key);
  },
  onError({ request }) {
    const key = request.headers.get(KEY);
    if (key !== null) unanswered(key);
    return new Problem(0, "offline", lostWords(request));
  },
});

/** What is known of a request that nobody answered. */
function lostWords(request: Request): string {
  if (isLook(request)) return t("cantReachTheServer");
  // Without any line it never left this machine; else the answer may be what was lost.
  if (!navigator.onLine) return t("cantReachTheServerNothingWas");
  const on = request.headers.has(KEY) ? t("tryAgainItWontBeDone") : t("checkBeforeYouTryAgain");
  return t("theServerDidntAnswerSoThis", { on });
}

/** Nothing is changed by it: a dry run, or words to check. */
function isLook(request: Request): boolean {
  const { pathname, searchParams } = new URL(request.url, location.href);
  return request.method === "GET" || searchParams.get("dry_run") === "true" || /\/(posts|templates)(\/[^/]+)?\/(preview|check)$|\/contacts\/(search|count)$/.test(pathname);
}

/** The server itself did not say what came of it: a gateway spoke, or the first one is still under way. */
const isVague = (status: number, body: string): boolean => status >= 500 || (status === 409 && body.includes(":under_way"));

interface Answered<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Unwrap an answer, or throw the problem that the server told. */
export async function take<Data>(asked: Promise<Answered<Data>>): Promise<Data> {
  return (await takeTagged(asked)).data;
}

/** Take the answer together with the name of the state it shows, for `If-Match`. */
export async function takeTagged<Data>(asked: Promise<Answered<Data>>): Promise<{ data: Data; etag: string | null }> {
  const { data, error, response } = await asked.catch((reason: unknown) => {
    throw reason instanceof Problem ? reason : new Problem(0, "offline", t("theServersAnswerWasCutOff"));
  });
  if (response.ok) return { data: data as Data, etag: response.headers.get("etag") };
  const problem = Problem.read(response.status, error);
  if (problem.code === "not_signed_in") tellSessionEnd();
  throw problem;
}

/** What a path answers with, by its method: for shapes whose name the document does not keep. */
export type AnswerOf<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
