//! Values of extension types: text, or lists of it.

use serde_json::json;

use super::reading::{Reading, read};
use crate::support;

#[tokio::test]
async fn citext_hstore_ltree_and_cube_are_text_and_their_arrays_lists() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run("CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE EXTENSION cube").await;
        let sql = "SELECT 'X'::citext, ARRAY['X', 'a,b']::citext[], 'a=>1, b=>NULL'::hstore, ARRAY['a=>1'::hstore], \
                   'Top.Science'::ltree, '{Top.Science,Top}'::ltree[], '(1,2)'::cube, ARRAY['(1,2)'::cube]";
        let Reading { rows, types, .. } = read(&database.url, sql).await;
        let expected = json!([
            "X", ["X", "a,b"], "\"a\"=>\"1\", \"b\"=>NULL", ["\"a\"=>\"1\""], "Top.Science", ["Top.Science", "Top"],
            "(1, 2)", ["(1, 2)"]
        ]);
        assert_eq!(json!(rows[0]), expected);
        assert_eq!(types, ["citext", "citext[]", "hstore", "hstore[]", "ltree", "ltree[]", "cube", "cube[]"]);
    })
    .await;
}

#[tokio::test]
async fn geometries_are_text_and_their_arrays_have_the_delimiter_of_geometry() {
    let database = support::postgis_server().database().await;
    database.run("CREATE EXTENSION postgis").await;
    let sql = "SELECT g, g::text, Box2D(g), Box3D(g), ARRAY[g, NULL, g], g::geometry(Point, 4326), g::geography \
               FROM (SELECT ST_SetSRID(ST_MakePoint(1, 2), 4326)) AS p (g)";
    let Reading { rows, types, .. } = read(&database.url, sql).await;
    let row = &rows[0];
    assert!(row[1].as_str().unwrap().starts_with("0101000020E6100000"));
    assert_eq!(row[0], row[1]);
    assert_eq!(row[2], "BOX(1 2,1 2)");
    assert_eq!(row[3], "BOX3D(1 2 0,1 2 0)");
    assert_eq!(row[4], json!([row[1], null, row[1]]));
    assert_eq!(row[5], row[1]);
    assert_eq!(
        types,
        ["geometry", "text", "box2d", "box3d", "geometry[]", "geometry(Point,4326)", "geography"]
    );
}
