//! pgvector's `vector` as a Rust value.
//!
//! Layout (pgvector `vector.h`): varlena header, `int16` dimensions, `int16` unused (0), then `float4`s.

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, UnboxDatum};
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{FromDatum, IntoDatum};

use super::catalog;

/// Bytes before the first element.
const HEADER: usize = 8;

/// A dense vector, finite by construction of its makers.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(pub Vec<f32>);

impl FromDatum for Vector {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null || datum.is_null() {
            return None;
        }
        let original = datum.cast_mut_ptr::<pg_sys::varlena>();
        let plain = pg_sys::pg_detoast_datum(original);
        let bytes = pgrx::varlena::varlena_to_byte_slice(plain);
        // `bytes` starts after the 4-byte length.
        let dims = bytes.get(0..2).map(|b| u16::from_ne_bytes([b[0], b[1]]) as usize)?;
        let elements = bytes.get(HEADER - 4..HEADER - 4 + dims * 4)?;
        let values = elements.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
        if plain != original {
            pg_sys::pfree(plain.cast());
        }
        Some(Vector(values))
    }
}

impl IntoDatum for Vector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let size = HEADER + self.0.len() * 4;
        // SAFETY: `size` bytes are allocated and all of them written: length word, dimensions, unused, elements.
        unsafe {
            let base = pg_sys::palloc0(size).cast::<u8>();
            pgrx::varlena::set_varsize_4b(base.cast(), size as i32);
            base.add(4).cast::<u16>().write_unaligned(self.0.len() as u16);
            std::ptr::copy_nonoverlapping(self.0.as_ptr().cast::<u8>(), base.add(HEADER), self.0.len() * 4);
            Some(pg_sys::Datum::from(base))
        }
    }

    fn type_oid() -> pg_sys::Oid {
        type_oid().unwrap_or(pg_sys::InvalidOid)
    }
}

/// Oid of the type `vector` in pgvector's schema.
pub fn type_oid() -> Option<pg_sys::Oid> {
    let schema = catalog::extension_schema_oid(c"vector")?;
    // SAFETY: a syscache look-up by name and schema.
    let oid = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::TYPENAMENSP as i32,
            pg_sys::Anum_pg_type_oid as i16,
            pg_sys::Datum::from(c"vector".as_ptr()),
            pg_sys::Datum::from(schema),
            pg_sys::Datum::from(0usize),
            pg_sys::Datum::from(0usize),
        )
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

// SAFETY: the value is copied out of the datum, nothing borrows from it.
unsafe impl UnboxDatum for Vector {
    type As<'src> = Vector;
    unsafe fn unbox<'src>(datum: Datum<'src>) -> Vector
    where
        Self: 'src,
    {
        Vector::from_datum(datum.sans_lifetime(), false).unwrap_or(Vector(Vec::new()))
    }
}

// SAFETY: the argument is a `vector` datum by the SQL declaration.
unsafe impl<'fcx> ArgAbi<'fcx> for Vector {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        arg.unbox_arg_using_from_datum().unwrap_or(Vector(Vec::new()))
    }
}

// SAFETY: the datum is freshly allocated in the current memory context.
unsafe impl BoxRet for Vector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            Some(datum) => fcinfo.return_raw_datum(datum),
            None => fcinfo.return_null(),
        }
    }
}

// SAFETY: names an existing SQL type.
unsafe impl SqlTranslatable for Vector {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Vector);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("vector"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
        Ok(ReturnsRef::One(SqlMappingRef::literal("vector")));
}

/// A vector as an SPI argument of type `kind`.
pub fn argument(vector: Vector, kind: pg_sys::Oid) -> pgrx::datum::DatumWithOid<'static> {
    // SAFETY: the datum is a `vector`, and `kind` is that type's oid.
    unsafe { pgrx::datum::DatumWithOid::new(vector, kind) }
}
