// Writing a post: the words on the left, what each network makes of them on the right.
import { Alert, Button, Grid, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useBeforeUnload, useParams, useSearchParams } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { api, take } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { momentThere } from "../../ui/times";
import { Conflict } from "./Conflict";
import { contentOf, empty, isReworded, type Content, type Post } from "./content";
import { Editor } from "./Editor";
import { usePreviews, type Went } from "./foresee";
import { readKept, useKept } from "./keepLocally";
import { Pills } from "./Pills";
import { Previews } from "./Previews";
import { Send } from "./Send";
import { t } from "../../messages/composer";

export default function Compose() {
  const { "*": path } = useParams();
  const postId = path === undefined || path === "" ? null : path;
  const accounts = useAccounts();
  const [search] = useSearchParams();
  const asked = `${search.get("account") ?? ""} ${search.get("at") ?? ""}`; // another slot is another beginning
  return (
    <Fetched query={accounts}>
      {(found) => (postId === null ? <Desk key={`new ${asked}`} accounts={found} post={null} /> : <SavedDesk key={postId} accounts={found} postId={postId} />)}
    </Fetched>
  );
}

function SavedDesk({ accounts, postId }: { accounts: Account[]; postId: string }) {
  const workspace_id = useWorkspaceId();
  const post = useQuery({
    queryKey: [workspace_id, "posts", postId],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/posts/{post_id}", { params: { path: { workspace_id, post_id: postId } } })),
  });
  return <Fetched query={post}>{(found) => <Desk accounts={accounts} post={found} />}</Fetched>;
}

/** What a new post begins with: the account of the address, so that an empty slot leads here; else the only one. */
function useBeginning(accounts: Account[]) {
  const [search] = useSearchParams();
  const asked = accounts.filter(({ id }) => id === search.get("account"));
  const able = accounts.filter(({ state }) => state === "connected" || state === "expiring");
  const chosen = asked.length > 0 ? asked : able.length === 1 ? able : [];
  const places = chosen.map(({ id }) => ({ account_id: id }));
  return {
    content: { ...empty, places },
    /** Text that was kept goes where the address says, too. */
    put: (kept: Content): Content => {
      if (asked.length === 0) return kept;
      const own = kept.places.filter(({ account_id }) => account_id === asked[0]?.id); // with the channels that were chosen
      return { ...kept, places: own.length > 0 ? own : places };
    },
  };
}

function Desk({ accounts, post }: { accounts: Account[]; post: Post | null }) {
  const workspaceId = useWorkspaceId();
  const editor = useMay("editor");
  const beginning = useBeginning(accounts);
  // What is edited here is measured against the post as it was opened, not as others change it meanwhile.
  const [base, setBase] = useState<{ content: Content; revision: number | null }>(() => ({
    content: post === null ? beginning.content : contentOf(post),
    revision: readKept(workspaceId, post?.id ?? null)?.revision ?? post?.revision ?? null,
  }));
  const { content, setContent, changed, found, forget } = useKept(workspaceId, post?.id ?? null, base.content, base.revision, beginning.put);
  const [theirs, setTheirs] = useState<Post | null>(null);
  const [foreseen, setForeseen] = useState<readonly Went[]>([]);
  const previews = usePreviews(content);
  useEffect(() => {
    // Nothing of one's own stands here: follow what others save.
    if (post !== null && !changed && post.revision !== base.revision) {
      setBase({ content: contentOf(post), revision: post.revision });
      setContent(contentOf(post));
    }
  }, [post, changed, base.revision, setContent]);
  useBeforeUnload((event) => {
    if (changed && readBlocked()) event.preventDefault();
  });
  const restart = (next: Content, revision: number | null) => {
    forget();
    setBase({ content: next, revision });
    setContent(next);
  };
  const title = post === null ? t("newPost") : post.title === "" ? t("post") : post.title;
  return (
    <Page title={title} message={post !== null ? <Pills post={post} /> : editor ? undefined : t("youCanLookAroundHereOnly")}>
      {found !== null && changed && <Restored at={found.at} onDrop={() => restart(base.content, base.revision)} />}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Editor accounts={accounts} content={content} previews={previews.data ?? []} disabled={!editor} onChange={setContent} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Previews content={content} previews={previews} foreseen={foreseen} postId={post?.id ?? null} />
        </Grid.Col>
      </Grid>
      {editor && (
        <Send
          accounts={accounts}
          content={content}
          changed={changed}
          reworded={isReworded(content, base.content)}
          previews={previews.data ?? []}
          saved={post === null || base.revision === null ? null : { post, revision: base.revision }}
          onSaved={restart}
          onConflict={setTheirs}
          onForeseen={setForeseen}
        />
      )}
      {theirs !== null && (
        <Conflict
          mine={content}
          theirs={theirs}
          onMine={() => {
            setBase({ content: contentOf(theirs), revision: theirs.revision });
            setTheirs(null);
          }}
          onTheirs={() => {
            restart(contentOf(theirs), theirs.revision);
            setTheirs(null);
          }}
          onClose={() => setTheirs(null)}
        />
      )}
    </Page>
  );
}

/** Browsers that keep nothing locally must ask before the text is lost. */
function readBlocked(): boolean {
  try {
    return localStorage.length === 0;
  } catch {
    return true;
  }
}

function Restored({ at, onDrop }: { at: string; onDrop: () => void }) {
  const { zone } = useMe();
  return (
    <Alert color="blue" role="status" title={t("yourUnsavedTextIsBack")}>
      <Group justify="space-between">
        <span>{t("youLastEditedItTimeIts", { time: momentThere(at, zone) })}</span>
        <Button size="compact-sm" variant="default" onClick={onDrop}>
          {t("discard")}
        </Button>
      </Group>
    </Alert>
  );
}
