// Messages with variables, written once and filled in for each person; beside the text, how it looks for one of them.
import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { IconPlus, IconTemplate } from "@tabler/icons-react";
import { Link, useParams } from "react-router";

import { useMay, useWorkspaceId } from "../../api/me";
import { useTemplates, type Template } from "../../api/templates";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { ago } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { Editor } from "./Editor";
import { useTemplate } from "./useTemplate";
import { t } from "../../messages/templates";

export default function Templates() {
  const { "*": path = "" } = useParams();
  if (path === "") return <TemplateList />;
  if (path === "new") return <Editor key="new" template={null} />;
  return <OneTemplate key={path} id={path} />;
}

function OneTemplate({ id }: { id: string }) {
  return <Fetched query={useTemplate(id)}>{(template) => <Editor key={template.id} template={template} />}</Fetched>;
}

function TemplateList() {
  const workspaceId = useWorkspaceId();
  const editor = useMay("editor");
  const templates = useTemplates();
  return (
    <Page
      title={t("templates")}
      message={t("messagesWithVariables")}
      actions={
        editor && (
          <Button component={Link} to={`/w/${workspaceId}/templates/new`} leftSection={<IconPlus size={16} aria-hidden />}>
            {t("newTemplate")}
          </Button>
        )
      }
    >
      <Fetched query={templates}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon={IconTemplate} title={t("noTemplatesYet")}>
              {t("campaignsAndSequencesSendTemplates")}
            </Empty>
          ) : (
            <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
              {found.map((each) => (
                <li key={each.id}>
                  <TemplateCard template={each} />
                </li>
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Page>
  );
}

function TemplateCard({ template }: { template: Template }) {
  const workspaceId = useWorkspaceId();
  const now = useNow();
  const { content, number, variables } = template.version;
  return (
    <Paper withBorder p="sm" component={Link} to={`/w/${workspaceId}/templates/${template.id}`} display="block" c="inherit" td="none">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Text fw={650}>{template.name}</Text>
          <Text size="sm" c="dimmed" truncate>
            {content.subject === "" ? content.body.split("\n", 1)[0] : content.subject}
          </Text>
        </div>
        <Text size="xs" c="dimmed" style={{ flex: "none" }}>
          {t("versionVariables", { number, variables: variables.length, when: ago(template.updated_at, now) })}
        </Text>
      </Group>
    </Paper>
  );
}
