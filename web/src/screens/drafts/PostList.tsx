// Posts, searched and filtered; approved one by one or many at once.
import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileText, IconPencilPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Paged, usePages } from "../../ui/Paged";
import { tellProblem } from "../../ui/tell";
import { useSearchWords } from "../../ui/useSearchWords";
import { takeSteps } from "../attention/takeSteps";
import { mayApprove, PostRow } from "./PostRow";
import { t } from "../../messages/drafts";

type State = Schemas["PostView"]["state"];
const DRAFT: State = "draft";
const states = [
  { value: "draft", label: t("drafts") },
  { value: "scheduled", label: t("scheduled") },
  { value: "published", label: t("published") },
  { value: "failed", label: t("failed") },
  { value: "all", label: t("allPosts") },
];
const sources = [
  { value: "manual", label: t("writtenBySomeone") },
  { value: "rule", label: t("createdByARule") },
];

export function PostList() {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const [search, setSearch] = useSearchWords();
  const [chosen, setChosen] = useState<string[]>([]);
  const state = search.get("state") ?? DRAFT;
  const label = search.get("label") ?? undefined;
  const source = search.get("source");
  const rule_id = search.get("rule") ?? undefined;
  const month = search.get("month") ?? undefined;
  const rules = useQuery({
    queryKey: [workspace_id, "rules"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/rules", { params: { path: { workspace_id } } })),
  });
  const [words] = useDebouncedValue(search.get("search") ?? "", 300);
  const set = (name: string, value: string | null) => {
    setChosen([]);
    setSearch(name, value);
  };
  const posts = usePages([workspace_id, "posts", "list", state, label, source, rule_id, month, words], (cursor?: string) =>
    take(
      api.GET("/api/v1/workspaces/{workspace_id}/posts", {
        params: {
          path: { workspace_id },
          query: {
            state: state === "all" ? undefined : [state as State],
            label,
            source: source === null ? undefined : (source as Schemas["PostView"]["source"]),
            rule_id,
            target_month: month,
            search: words === "" ? undefined : words,
            cursor,
          },
        },
      }),
    ),
  );
  const waiting = posts.rows.filter(mayApprove).map(({ id }) => id);
  const picked = posts.rows.filter(({ id }) => chosen.includes(id));
  const approve = useAct(
    "post",
    (subjects: string[]) => takeSteps(workspace_id, { step: "approve", subjects, fences: {}, choice: "shift" }),
    {
      done: (answers) => {
        const refused = answers.filter((each) => each.outcome !== "done");
        if (refused.length > 0) tellProblem(new Error([...new Set(refused.map((each) => each.message))].join(" ")), t("refusedNotApproved", { refused: refused.length }));
        return t("postsApproved", { answers: answers.length - refused.length });
      },
      after: () => setChosen([]),
    },
  );
  return (
    <Stack>
      <Group gap="xs" align="flex-end">
        <TextInput
          aria-label={t("search")}
          placeholder={t("searchPosts")}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search.get("search") ?? ""}
          onChange={(event) => set("search", event.currentTarget.value)}
          style={{ flex: 1, minWidth: 180 }}
        />
        <Select aria-label={t("status")} w={150} allowDeselect={false} data={states} value={state} onChange={(value) => set("state", value === DRAFT ? null : value)} />
        <Select aria-label={t("createdBy")} placeholder={t("anyoneOrARule")} w={140} clearable data={sources} value={source} onChange={(value) => set("source", value)} />
        {(rules.data ?? []).length > 0 && (
          <>
            <Select
              aria-label={t("rule")}
              placeholder={t("anyRule")}
              w={150}
              clearable
              data={(rules.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              value={rule_id ?? null}
              onChange={(value) => set("rule", value)}
            />
            <TextInput aria-label={t("monthOfTheRule")} type="month" w={150} value={month ?? ""} onChange={(event) => set("month", event.currentTarget.value === "" ? null : event.currentTarget.value)} />
          </>
        )}
        {label !== undefined && (
          <Button variant="default" onClick={() => set("label", null)}>
            {t("labelLabelShowAllPosts", { label })}
          </Button>
        )}
        {editor && (
          <Button component={Link} to={`/w/${workspace_id}/compose`} leftSection={<IconPencilPlus size={16} aria-hidden />}>
            {t("newPost")}
          </Button>
        )}
      </Group>
      {editor && waiting.length > 0 && (
        <Group gap="xs">
          <Checkbox
            label={chosen.length === 0 ? t("selectAllThatNeedApproval") : t("chosenSelected", { chosen: chosen.length })}
            checked={chosen.length === waiting.length}
            indeterminate={chosen.length > 0 && chosen.length < waiting.length}
            onChange={(event) => setChosen(event.currentTarget.checked ? waiting : [])}
          />
          {picked.length > 0 && (
            <Button size="compact-md" loading={approve.isPending} onClick={() => approve.mutate(picked.map(({ id }) => id))}>
              {t("approvePosts", { picked: picked.length })}
            </Button>
          )}
        </Group>
      )}
      <Paged pages={posts} empty={<Nothing filtered={words !== "" || label !== undefined || source !== null || rule_id !== undefined || month !== undefined || state !== DRAFT} />}>
        {(rows) => (
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: "none" }}>
            {rows.map((post) => (
              <li key={post.id}>
                <PostRow
                  post={post}
                  chosen={chosen.includes(post.id)}
                  onChoose={editor && mayApprove(post) ? (on) => setChosen(on ? [...chosen, post.id] : chosen.filter((id) => id !== post.id)) : undefined}
                  onLabel={(name) => set("label", name)}
                />
              </li>
            ))}
          </Stack>
        )}
      </Paged>
    </Stack>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <Text c="dimmed">{t("noMatchesTryOtherWordsOr")}</Text>;
  return (
    <Empty icon={IconFileText} title={t("noDrafts")}>
      {t("postsYouSaveWithoutATime")}
    </Empty>
  );
}
