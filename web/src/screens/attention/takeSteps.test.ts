import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { takeSteps } from "./takeSteps";

const subjects = Array.from({ length: 150 }, (_, at) => `post-${at}`);
const approve = { step: "approve" as const, subjects, fences: { "post-0": 1, "post-149": 3 }, choice: "shift" as const };
const done = async (request: Request) => ({ answers: ((await request.clone().json()) as { subjects: string[] }).subjects.map((subject_id) => ({ subject_id, outcome: "done", message: null })) });

it("takes a step for more things than the server takes at once", async () => {
  serve(done);
  const answers = await takeSteps("home", approve);
  expect(answers.map(({ subject_id }) => subject_id)).toEqual(subjects);
  const bodies = (await writes()).map(({ body }) => body as { subjects: string[]; fences: object });
  expect(bodies.map((each) => each.subjects.length)).toEqual([100, 50]);
  expect(bodies.map((each) => each.fences)).toEqual([{ "post-0": 1 }, { "post-149": 3 }]);
});

it("tells what was done when the rest is refused", async () => {
  let first = true;
  serve((request) => {
    if (!first) return refuse(429, "too_often", "Wait a minute.");
    first = false;
    return done(request);
  });
  const answers = await takeSteps("home", approve);
  expect(answers.filter(({ outcome }) => outcome === "done")).toHaveLength(100);
  expect(answers.at(-1)).toEqual({ subject_id: "post-149", outcome: "refused", message: "Wait a minute." });
});

it("is an error where nothing was done", async () => {
  serve(() => refuse(429, "too_often", "Wait a minute."));
  await expect(takeSteps("home", approve)).rejects.toThrow("Wait a minute.");
});
