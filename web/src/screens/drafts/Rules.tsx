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
import { patternWords, readPattern } from "./pattern";
import { RuleEditor } from "./RuleEditor";
import { useCategories } from "./useCategories";
import { t } from "../../messages/drafts";

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
      const made = posts === 0 ? t("everythingIsAlreadyCreated") : t("postsCreated", { posts });
      const bare = without_media > 0 && t("withoutPicture", { posts: without_media });
      return [made, bare, !complete && t("theresMoreToCreatePressAgain")].filter(Boolean).join(" ");
    },
  });
  const noCategory = categories.data?.length === 0;
  return (
    <Stack>
      {workspace.data?.active === false && (
        <Alert color="yellow" title={t("rulesAreTurnedOffInThis")}>
          {t("theyWontCreatePostsUntilAn")}
        </Alert>
      )}
      {editor && (
        <Group gap="xs">
          <Button leftSection={<IconPlus size={16} aria-hidden />} disabled={noCategory || workspace.data === undefined} onClick={() => setEdited("new")}>
            {t("newRule")}
          </Button>
          <Button variant="default" leftSection={<IconWand size={16} aria-hidden />} loading={generate.isPending} onClick={() => generate.mutate()}>
            {t("generateNow")}
          </Button>
        </Group>
      )}
      {noCategory && <Text size="sm">{t("aRuleTakesItsTextFrom")}</Text>}
      <Fetched query={rules}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconWand} title={t("noRulesYet")}>
              {t("aRuleCreatesPosts30Days")}
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
      <Modal opened={edited !== null} onClose={() => setEdited(null)} size="xl" title={edited === "new" ? t("newRule") : t("ruleName", { name: edited?.name ?? "" })}>
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
    done: () => t("nameIsPausedThePostsIt", { name: rule.name }),
    undo: () => () => resume.mutate(),
  });
  const resume = useAct("rule", () => take(api.POST("/api/v1/workspaces/{workspace_id}/rules/{rule_id}/resume", { params })), {
    done: () => t("nameIsRunningAgain", { name: rule.name }),
  });
  const remove = useAct("rule", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/rules/{rule_id}", { params })), {
    done: ({ plan }) => t("ruleDeleted", { name: rule.name, removed: plan.removed.length, kept: plan.kept.length }),
  });
  const tryOut = useMutation({
    mutationFn: () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/rules/{rule_id}", { params: { ...params, query: { dry_run: true } } })),
    onSuccess: async ({ plan: { removed, kept } }) => {
      const message = t("ruleDeleteEffect", { removed: removed.length, kept: kept.length });
      if (await askFirst({ title: t("deleteNameQuestion", { name: rule.name }), message, yes: t("delete"), danger: true })) remove.mutate();
    },
    onError: (error) => tellProblem(error),
  });
  const handles = [...new Set(rule.targets.map(({ account_id }) => accounts.data?.find(({ id }) => id === account_id)?.handle ?? t("anAccount")))];
  const paused = rule.state === "paused";
  return (
    <Section
      title={rule.name}
      message={t("patternwordsPlaceTime", { patternWords: patternWords(readPattern(rule.pattern)), place: placeOf(rule.zone) })}
      actions={
        editor && (
          <>
            <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={t("editName", { name: rule.name })}>
              {t("edit")}
            </Button>
            <Menu position="bottom-end">
              <Menu.Target>
                <Button size="compact-sm" variant="subtle" color="gray" aria-label={t("moreForName", { name: rule.name })}>
                  <IconDots size={16} aria-hidden />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {paused ? <Menu.Item onClick={() => resume.mutate()}>{t("resume")}</Menu.Item> : <Menu.Item onClick={() => pause.mutate()}>{t("pause")}</Menu.Item>}
                <Menu.Item color="red" onClick={() => tryOut.mutate()}>
                  {t("deleteDots")}
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
            {t("paused")}
          </Badge>
        )}
        <Text size="sm" c="dimmed">
          {category ?? t("noCategory")} · {handles.join(", ")}
          {rule.ends !== null && t("untilEnds", { ends: rule.ends })}
        </Text>
      </Group>
    </Section>
  );
}
