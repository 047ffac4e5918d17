// One step for any number of things: the server takes a hundred at a time, so more go in turns. What could not be
// asked is answered as refused with the reason; only when nothing was done at all is that an error.
import { api, take, type Schemas } from "../../api/client";

const AT_ONCE = 100; // StepInput.subjects

type Asked = Schemas["StepInput"];
type Answer = Schemas["StepResult"];

export async function takeSteps(workspace_id: string, asked: Asked): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < asked.subjects.length; from += AT_ONCE) {
    const subjects = asked.subjects.slice(from, from + AT_ONCE);
    const fences = Object.fromEntries(subjects.flatMap((id) => (asked.fences?.[id] === undefined ? [] : [[id, asked.fences[id]]])));
    try {
      const some = await take(api.POST("/api/v1/workspaces/{workspace_id}/attention/steps", { params: { path: { workspace_id } }, body: { ...asked, subjects, fences } }));
      answers.push(...some.answers);
    } catch (error) {
      if (from === 0) throw error;
      const message = error instanceof Error ? error.message : null;
      return [...answers, ...asked.subjects.slice(from).map((subject_id) => ({ subject_id, outcome: "refused" as const, message }))];
    }
  }
  return answers;
}
