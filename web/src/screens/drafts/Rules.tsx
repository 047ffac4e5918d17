import { Alert, Badge, Button, Group, Menu, Modal, Stack, Text } from "@mantine/core";
import { IconDots, IconPlus, IconWand } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspace, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { tellProblem } from "../../ui/tell";
import { placeOf } from "../../ui/times";
import { count } from "../../ui/words";
import { patternWords, readPattern } from "./pattern";
import { RuleEditor } from "./RuleEditor";
import { useCategories } from "./useCategories";

export type Rule = Schemas["RuleView"];

export function useRules() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "rules"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/rules", { params: { path: { workspace_id } } })),
  });
}

export function Rules() {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const workspace = useWorkspace();
  const rules = useRules();
  const categories = useCategories();
  const [edited, setEdited] = useState<Rule | "new" | null>(null);
  const generate = useAct("rule", () => take(api.POST("/api/v1/workspaces/{workspace_id}/drafts/generate", { params: { path: { workspace_id } } })), {
    done: ({ posts, without_media, complete }) => {
      const made = posts === 0 ? "Everything is laid out already." : `${count(posts, "post")} laid out.`;
      const bare = without_media > 0 ? ` ${without_media} without a picture.` : "";
      return `${made}${bare}${complete ? "" : " There is more: press again."}`;
    },
  });
  const noCategory = categories.data?.length === 0;
  return (
    <Stack>
      {workspace.data?.active === false && (
        <Alert color="yellow" title="Rules are switched off in this workspace">
          They lay out nothing until an admin switches them on in the settings.
        </Alert>
      )}
      {editor && (
        <Group gap="xs">
          <Button leftSection={<IconPlus size={16} aria-hidden />} disabled={noCategory || workspace.data === undefined} onClick={() => setEdited("new")}>
            New rule
          </Button>
          <Button variant="default" leftSection={<IconWand size={16} aria-hidden />} loading={generate.isPending} onClick={() => generate.mutate()}>
            Generate now
          </Button>
        </Group>
      )}
      {noCategory && <Text size="sm">A rule takes its words from a category: make one first, in the next tab.</Text>}
      <Fetched query={rules}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconWand} title="No rules yet">
              A rule lays out posts 30 days ahead: which days and times, which accounts, which category's words and pictures. You approve what it makes.
            </Empty>
          ) : (
            <Stack>
              {rows.map((rule) => (
                <RuleCard key={rule.id} rule={rule} category={categories.data?.find(({ id }) => id === rule.category_id)?.name} onEdit={() => setEdited(rule)} />
              ))}
            </Stack>
          )
        }
      </Fetched>
      <Modal opened={edited !== null} onClose={() => setEdited(null)} size="xl" title={edited === "new" ? "A new rule" : `Rule ${edited?.name ?? ""}`}>
        {edited !== null && <RuleEditor rule={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
      </Modal>
    </Stack>
  );
}

function RuleCard({ rule, category, onEdit }: { rule: Rule; category: string | undefined; onEdit: () => void }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const accounts = useAccounts();
  const params = { path: { workspace_id, rule_id: rule.id } };
  const pause = useAct("rule", () => take(api.POST("/api/v1/workspaces/{workspace_id}/rules/{rule_id}/pause", { params })), {
    done: () => `${rule.name} lays out no more. What it laid out stays.`,
    undo: () => () => resume.mutate(),
  });
  const resume = useAct("rule", () => take(api.POST("/api/v1/workspaces/{workspace_id}/rules/{rule_id}/resume", { params })), {
    done: () => `${rule.name} goes on.`,
  });
  const remove = useAct("rule", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/rules/{rule_id}", { params })), {
    done: ({ plan }) => `${rule.name} is gone, with ${count(plan.removed.length, "post")}. ${plan.kept.length > 0 ? `${count(plan.kept.length, "post")} stayed, because somebody touched them.` : ""}`,
  });
  const tryOut = useMutation({
    mutationFn: () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/rules/{rule_id}", { params: { ...params, query: { dry_run: true } } })),
    onSuccess: async ({ plan: { removed, kept } }) => {
      const says = `${count(removed.length, "post")} that nobody touched ${removed.length === 1 ? "goes" : "go"} with it; ${kept.length} that somebody touched ${kept.length === 1 ? "stays" : "stay"}.`;
      if (await askFirst({ title: `Delete ${rule.name}?`, says, yes: "Delete", danger: true })) remove.mutate();
    },
    onError: (error) => tellProblem(error),
  });
  const handles = [...new Set(rule.targets.map(({ account_id }) => accounts.data?.find(({ id }) => id === account_id)?.handle ?? "an account"))];
  const paused = rule.state === "paused";
  return (
    <Section
      title={rule.name}
      says={`${patternWords(readPattern(rule.pattern))}, ${placeOf(rule.zone)} time`}
      actions={
        editor && (
          <>
            <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={`Edit ${rule.name}`}>
              Edit
            </Button>
            <Menu position="bottom-end">
              <Menu.Target>
                <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More for ${rule.name}`}>
                  <IconDots size={16} aria-hidden />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {paused ? <Menu.Item onClick={() => resume.mutate()}>Resume</Menu.Item> : <Menu.Item onClick={() => pause.mutate()}>Pause</Menu.Item>}
                <Menu.Item color="red" onClick={() => tryOut.mutate()}>
                  Delete…
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
    >
      <Group gap="xs">
        {paused && (
          <Badge variant="outline" color="yellow">
            Paused
          </Badge>
        )}
        <Text size="sm" c="dimmed">
          {category ?? "A category"} · {handles.join(", ")}
          {rule.ends !== null && ` · until ${rule.ends}`}
        </Text>
      </Group>
    </Section>
  );
}
