//! Tests inside PostgreSQL that need what SQL cannot see: the statements of the arms, binary forms.

#![allow(clippy::unwrap_used)]

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use std::collections::HashMap;

    use pgrx::prelude::*;
    use pgrx::JsonB;

    use crate::bm25;
    use crate::pg::tsvector::{self, TsVector};
    use crate::search::{self, Scope, VectorPlan};
    use crate::store;

    const MODEL: &str = "multilingual-e5-small";

    /// 3,000 rows with random unit vectors and words from a small vocabulary.
    fn fill() {
        Spi::run("select setseed(0.5)").unwrap();
        Spi::run(
            "insert into memories (namespace, path, content, model, embedding)
             select case when i % 100 = 0 then 'mine' else 'default' end, 'p/' || i,
                 (select string_agg(w, ' ') from (select (array['苹果','香蕉','牛奶','超市','通勤','会议','博客','订阅','数据库','路由器'])[1 + (i * 7 + j * j * 3) % 10] || case when j % 4 = 0 then '' else (i * j % 97)::text end as w
                     from generate_series(1, 3 + i % 11) j) s),
                 'multilingual-e5-small',
                 (array(select (random() - 0.5)::real from generate_series(1, 384) g where i > 0 and g > 0))::vector
             from generate_series(1, 3000) i",
        )
        .unwrap();
        Spi::run("analyze memories").unwrap();
    }

    fn scope() -> Scope {
        Scope { namespace: Some("default".to_owned()), ..Scope::default() }
    }

    /// The plan of a statement of an arm, its parameters filled with constants.
    fn plan(sql: &str, first: &str) -> String {
        let mut text = sql.replace("$1", first).replace("$2", "'default'").replace("$9", "10");
        text = format!("explain (costs off) {text}");
        Spi::connect(|client| {
            let rows = client.select(&text, None, &[]).unwrap();
            rows.map(|row| row.get::<String>(1).unwrap().unwrap()).collect::<Vec<_>>().join("\n")
        })
    }

    #[pg_test]
    fn bm25_candidates_come_from_the_gin_index() {
        fill();
        let schema = store::schema().unwrap();
        let plan = plan(&bm25::candidates_sql(&schema, &scope()), "'''13'' | ''57'''");
        assert!(plan.contains("Bitmap Index Scan on memories_search_idx"), "{plan}");
    }

    #[pg_test]
    fn vectors_are_compared_exactly_without_an_index() {
        fill();
        let schema = store::schema().unwrap();
        let vector = "(select embedding from memories limit 1)";
        let sql = search::vector_sql(&schema, &scope(), MODEL, 384, VectorPlan::Exact);
        let plan = plan(&sql, vector);
        assert!(!plan.contains("memories_embedding_"), "{plan}");
        assert!(plan.contains("Sort"), "{plan}");
    }

    #[pg_test]
    fn many_vectors_are_found_through_the_hnsw_index() {
        fill();
        Spi::run("set local enable_seqscan = off; set local enable_sort = off").unwrap();
        let schema = store::schema().unwrap();
        let vector = Spi::get_one::<String>("select embedding::text from memories order by id limit 1")
            .unwrap()
            .unwrap();
        let sql = search::vector_sql(&schema, &scope(), MODEL, 384, VectorPlan::Hnsw);
        let plan = plan(&sql, &format!("'{vector}'::vector"));
        assert!(plan.contains("Index Scan using memories_embedding_"), "{plan}");
    }

    #[pg_test]
    fn a_search_over_many_rows_uses_hnsw_and_is_as_good_as_exact() {
        fill();
        let explain = |exact: i32| {
            Spi::run(&format!("set local summer_memory.exact_rows = {exact}")).unwrap();
            let JsonB(value) =
                Spi::get_one::<JsonB>("select memory_explain('苹果和香蕉', 10, mode => 'vector')")
                    .unwrap()
                    .unwrap();
            value
        };
        let approximate = explain(100);
        let exact = explain(1_000_000);
        assert_eq!(approximate["arms"]["vector"]["plan"], "hnsw");
        assert_eq!(exact["arms"]["vector"]["plan"], "exact");
        let ids = |value: &serde_json::Value| {
            value["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].as_i64().unwrap())
                .collect::<Vec<_>>()
        };
        let (approximate, exact) = (ids(&approximate), ids(&exact));
        let shared = approximate.iter().filter(|id| exact.contains(id)).count();
        assert_eq!(exact.len(), 10);
        assert!(shared >= 8, "{approximate:?} {exact:?}");
    }

    #[pg_test]
    fn a_filtered_search_is_never_short_of_rows() {
        fill();
        Spi::run("set local summer_memory.exact_rows = 0").unwrap();
        for k in [10i64, 30] {
            let found = Spi::get_one_with_args::<i64>(
                "select count(*) from memory_search('天气怎么样', $1::int, namespace => 'mine')",
                &[k.into()],
            );
            assert_eq!(found, Ok(Some(k)));
        }
    }

    #[pg_test]
    fn bm25_scores_equal_the_formula() {
        fill();
        // Okapi BM25 with k1 1.2 and b 0.75, written down once more in SQL over unnest(search).
        let formula = "
            with docs as (select id, token_count as len from memories where namespace = 'default'),
            stats as (select count(*)::float8 as n, avg(len)::float8 as avgdl from docs),
            query as (select lexeme from unnest(to_tsvector('jieba', '数据库和会议'))),
            tf as (select m.id, u.lexeme, cardinality(u.positions)::float8 as tf
                from memories m, unnest(m.search) u where m.namespace = 'default' and u.lexeme in (select lexeme from query)),
            df as (select lexeme, count(*)::float8 as df from tf group by lexeme)
            select d.id, sum(ln(1 + (s.n - df.df + 0.5) / (df.df + 0.5)) * tf.tf * 2.2
                / (tf.tf + 1.2 * (0.25 + 0.75 * d.len / s.avgdl))) as score
            from tf join df using (lexeme) join docs d using (id), stats s
            group by d.id order by score desc, d.id limit 20";
        let read = |sql: &str| -> Vec<(i64, f64)> {
            Spi::connect(|client| {
                client
                    .select(sql, None, &[])
                    .unwrap()
                    .map(|row| (row.get::<i64>(1).unwrap().unwrap(), row.get::<f64>(2).unwrap().unwrap()))
                    .collect()
            })
        };
        let expected = read(formula);
        let found = read("select id, bm25_score from memory_search('数据库和会议', 20, mode => 'bm25')");
        assert_eq!(expected.len(), 20);
        assert_eq!(found.len(), 20);
        for (want, have) in expected.iter().zip(&found) {
            assert_eq!(want.0, have.0);
            assert!((want.1 - have.1).abs() < 1e-9, "{want:?} {have:?}");
        }
    }

    #[pg_test]
    fn a_path_in_two_namespaces_is_two_documents() {
        Spi::run("set local summer_memory.embed = 'off'").unwrap();
        Spi::run("insert into memories (namespace, path, content) values ('a', 'x.md', '紫藤花'), ('b', 'x.md', '紫藤架')").unwrap();
        let found = |namespace: &str| {
            Spi::get_one_with_args::<i64>(
                "select count(*) from memory_search('紫藤', 10, namespace => $1, mode => 'bm25')",
                &[namespace.into()],
            )
        };
        assert_eq!(found("*"), Ok(Some(2)));
        assert_eq!(found("a"), Ok(Some(1)));
    }

    #[pg_test]
    fn statistics_follow_a_delete_at_once() {
        fill();
        let documents = || {
            let JsonB(value) =
                Spi::get_one::<JsonB>("select memory_explain('会议', 1, mode => 'bm25')").unwrap().unwrap();
            value["arms"]["bm25"]["documents"].as_i64().unwrap()
        };
        let before = documents();
        Spi::run("delete from memories where id in (select id from memories where namespace = 'default' limit 100)").unwrap();
        assert_eq!(documents(), before - 100);
    }

    #[pg_test]
    fn lexemes_are_read_as_postgresql_sees_them() {
        let text = "苹果 苹果 香蕉 it's a \\ back''slash node.js Node.js 1 22 333 很长的中文句子里有很多词";
        Spi::connect(|client| {
            let rows = client
                .select(
                    "select v, (select jsonb_object_agg(lexeme, cardinality(positions)) from unnest(v)) from (select to_tsvector('jieba', $1) v) s",
                    None,
                    &[text.into()],
                )
                .unwrap()
                .first();
            let vector = rows.get::<TsVector>(1).unwrap().unwrap();
            let JsonB(expected) = rows.get::<JsonB>(2).unwrap().unwrap();
            let expected: HashMap<String, u64> =
                expected.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap())).collect();
            assert_eq!(vector.len(), expected.len());
            for (lexeme, count) in &expected {
                assert_eq!(u64::from(vector.frequency(lexeme.as_bytes())), *count, "{lexeme}");
            }
            assert_eq!(u64::from(vector.total()), expected.values().sum::<u64>());
            assert_eq!(vector.frequency("没有".as_bytes()), 0);
        });
    }

    #[pg_test]
    fn positions_may_be_missing() {
        let schema = store::schema().unwrap();
        let configuration = tsvector::configuration_oid(c"jieba", schema.oid).unwrap();
        let vector = tsvector::to_tsvector(configuration, "苹果 苹果").and_then(tsvector::strip).unwrap();
        assert_eq!(vector.frequency("苹果".as_bytes()), 1);
    }

    #[pg_test]
    fn every_query_is_a_valid_tsquery() {
        for text in [
            "it's",
            "a\\b",
            "'quoted'",
            "C:\\dir\\file",
            "foo:*",
            "!(a|b)&c",
            "path/to/it's.txt",
            "''",
            "\\'",
        ] {
            let rows =
                Spi::get_one_with_args::<i64>("select count(*) from memory_search($1, 3)", &[text.into()]);
            assert!(rows.is_ok(), "{text}");
        }
    }

    #[pg_test]
    fn a_metadata_update_calls_no_model() {
        Spi::run("insert into memories (path, content) values ('m', '今天喝了绿茶')").unwrap();
        let runs = || Spi::get_one::<i64>("select memory_model_runs()").unwrap().unwrap();
        let vector = || {
            Spi::get_one::<String>("select embedding::text from memories where path = 'm'").unwrap().unwrap()
        };
        let (before, old) = (runs(), vector());
        Spi::run("update memories set metadata = '{\"x\": 1}' where path = 'm'").unwrap();
        Spi::run("update memories set content = content where path = 'm'").unwrap();
        assert_eq!(runs(), before);
        assert_eq!(vector(), old);
        Spi::run("update memories set content = '今天喝了红茶' where path = 'm'").unwrap();
        assert_eq!(runs(), before + 1);
        assert_ne!(vector(), old);
    }
}
