// Saves the words, then does what the button said. What is saved stays saved when the second step is refused.
import { api, take } from "../../api/client";
import { tellProblem } from "../../ui/tell";
import { count } from "../../ui/words";
import { written, type Content, type Post } from "./content";
import { placeTime } from "./labels";

export type Way = "queue" | "slot" | "time" | "now" | "draft" | "save";

export interface Asked {
  workspaceId: string;
  way: Way;
  content: Content;
  changed: boolean;
  saved: { post: Post; revision: number } | null;
  at: string | null;
  wall: string | null;
  zone: string;
  approved: boolean;
}

export interface Done {
  post: Post;
  says: string;
  /** False: saved, but the second step was refused; the reason was told. */
  finished: boolean;
}

export async function carryOut(asked: Asked): Promise<Done> {
  const saved = await save(asked);
  if (asked.way === "draft") return { post: saved.post, says: saved.says ?? "Saved as a draft.", finished: false };
  if (asked.way === "save") return { post: saved.post, says: saved.says ?? "Saved.", finished: true };
  try {
    const { post, says } = await send(asked, saved.post);
    return { post, says, finished: true };
  } catch (error) {
    tellProblem(error, "Saved, but it has no time yet");
    return { post: saved.post, says: "The words are saved.", finished: false };
  }
}

async function save({ workspaceId, content, changed, saved }: Asked): Promise<{ post: Post; says: string | null }> {
  const path = { workspace_id: workspaceId };
  if (saved === null) {
    const post = await take(api.POST("/api/v1/workspaces/{workspace_id}/posts", { params: { path }, body: written(content) }));
    return { post, says: null };
  }
  if (!changed) return { post: saved.post, says: null };
  const post = await take(
    api.PATCH("/api/v1/workspaces/{workspace_id}/posts/{post_id}", {
      params: { path: { ...path, post_id: saved.post.id } },
      body: { ...written(content), revision: saved.revision },
    }),
  );
  const lost = post.voided ? "Saved. It needs approving again, because it says something else now." : null;
  return { post, says: post.says ?? lost };
}

async function send(asked: Asked, post: Post): Promise<{ post: Post; says: string }> {
  const path = { workspace_id: asked.workspaceId };
  const params = { path: { ...path, post_id: post.id } };
  const accounts = asked.content.places;
  switch (asked.way) {
    case "time": {
      const answer = await take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/schedule", {
          params,
          body: { accounts, at: asked.wall ?? "", zone: asked.zone },
        }),
      );
      const timed = answer.places.find((each) => each.outcome === "timed");
      return { post: answer.post, says: timed === undefined ? "It was too late to change it." : `Goes out ${placeTime(timed.due_at, timed.zone)}.` };
    }
    case "now": {
      const answer = asked.approved
        ? await take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/publish-now", { params, body: { accounts } }))
        : await take(
            api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve-and-publish-now", {
              params,
              body: { accounts, revision: post.revision },
            }),
          );
      return { post: answer.post, says: `On its way in ${count(answer.places.length, "place")}.` };
    }
    default: {
      const answer = await take(
        api.POST("/api/v1/workspaces/{workspace_id}/queue", {
          params: { path },
          body: { post_id: post.id, accounts, to: "first_free", at: asked.way === "slot" ? asked.at : null },
        }),
      );
      const fresh = await take(api.GET("/api/v1/workspaces/{workspace_id}/posts/{post_id}", { params }));
      return { post: fresh, says: answer.answers.map(queuedWords).join(" ") };
    }
  }
}

type QueueAnswer = { outcome: string; at?: string; zone?: string; says?: string };

function queuedWords(answer: QueueAnswer): string {
  if (answer.outcome === "queued" && answer.at !== undefined) return `Goes out ${placeTime(answer.at, answer.zone ?? "UTC")}.`;
  if (answer.outcome === "already_queued") return "It is on its way there already.";
  return `Not queued: ${answer.says ?? "no reason given"}.`;
}

export function approve(workspaceId: string, postId: string, revision: number) {
  return take(
    api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve", {
      params: { path: { workspace_id: workspaceId, post_id: postId } },
      body: { revision },
    }),
  );
}
